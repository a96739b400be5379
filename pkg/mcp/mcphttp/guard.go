package mcphttp

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Guard refuses what a web page of another site has a browser send: requests for a foreign host name, which the page's owner has
// bound to this machine (DNS rebinding), and requests with a foreign origin.
type Guard struct {
	// Public is the URL under which clients reach the server, or nil.
	Public *url.URL
	// Host is the host that the server listens on, as a name or an address; "" is all of the machine's.
	Host string
}

// Handler returns a handler that passes on what the guard allows.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.allowsHost(r.Host):
			refuse(w, http.StatusForbidden, jsonrpc.CodeInvalidRequest,
				"The Host "+fault.Truncate(r.Host, 100)+" is not this server's; start it with --public-url if clients reach it under this name")
		case !g.allowsOrigin(r):
			refuse(w, http.StatusForbidden, jsonrpc.CodeInvalidRequest,
				"The Origin "+fault.Truncate(r.Header.Get("Origin"), 100)+" is not this server's; start it with --public-url if its pages are served under this one")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// allowsHost reports whether a Host header names the server: by its public name, by the name that it listens on, by a name of
// this machine alone if it listens there, or otherwise by an address, which no foreign name can stand for.
func (g *Guard) allowsHost(host string) bool {
	name := hostname(host)
	if name == "" {
		return false
	}
	if g.Public != nil && strings.EqualFold(name, g.Public.Hostname()) || strings.EqualFold(name, g.Host) || IsLoopback(name) {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil && !IsLoopback(g.Host)
}

// allowsOrigin reports whether a request comes from no web page, or from one of the server's own.
func (g *Guard) allowsOrigin(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	origin, err := url.Parse(values[0])
	if err != nil || len(values) > 1 || origin.Host == "" || origin.Path != "" || origin.RawQuery != "" {
		return false
	}
	if g.Public != nil && origin.Scheme == g.Public.Scheme && strings.EqualFold(origin.Host, g.Public.Host) {
		return true
	}
	return origin.Scheme == "http" && strings.EqualFold(origin.Host, r.Host)
}

// IsLoopback reports whether a host name or an address means this machine, whoever asks.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// hostname returns a host without its port and brackets, or "" if it is no host.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return host[1 : len(host)-1]
	}
	if strings.ContainsAny(host, "[]:/@ ") {
		return ""
	}
	return host
}
