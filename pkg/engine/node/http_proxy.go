package node

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// proxies say which proxy a request goes through: one for all, or by the environment.
type proxies struct {
	// all is a URL, none, or empty.
	all string
	// http and https are for URLs of that scheme, except for the hosts that no lists.
	http, https, no string
}

// noProxy is the value of the parameter proxy that means none.
const noProxy = "none"

// proxiesFor reads the parameter proxy, and without it the environment of the node: HTTP_PROXY, HTTPS_PROXY and NO_PROXY,
// also in lower case. HTTP_PROXY does not count in a CGI program, where a client could set it by a header.
func proxiesFor(param string, env []string) (p proxies, f *fault.Fault) {
	p.all = strings.TrimSpace(param)
	if p.all == noProxy {
		return p, nil
	}
	if p.all != "" {
		_, err := proxyURL(p.all)
		return p, proxyFault("proxy", err)
	}
	first := func(names ...string) string {
		for _, name := range names {
			if value := strings.TrimSpace(process.Getenv(env, name)); value != "" {
				return value
			}
		}
		return ""
	}
	plain := []string{"HTTP_PROXY", "http_proxy"}
	if process.Getenv(env, "REQUEST_METHOD") != "" {
		plain = plain[1:]
	}
	p.http, p.https, p.no = first(plain...), first("HTTPS_PROXY", "https_proxy"), first("NO_PROXY", "no_proxy")
	return p, nil
}

func proxyFault(where string, err error) *fault.Fault {
	if err == nil {
		return nil
	}
	return fault.New(fault.Execution, "%s: %v", where, err).Suggest("Give a URL such as http://proxy.example.org:3128 (or https, socks5), or none")
}

// choose gives the proxy for a URL, nil for none.
func (p *proxies) choose(u *url.URL) (*url.URL, error) {
	switch {
	case p.all == noProxy:
		return nil, nil
	case p.all != "":
		return proxyURL(p.all)
	}
	value, name := p.http, "HTTP_PROXY"
	if u.Scheme == "https" {
		value, name = p.https, "HTTPS_PROXY"
	}
	if value == "" || exempt(p.no, u.Hostname(), portOf(u)) {
		return nil, nil
	}
	proxy, err := proxyURL(value)
	if f := proxyFault(name, err); f != nil {
		return nil, f
	}
	return proxy, nil
}

// proxyURL reads the address of a proxy, of which the scheme may be left out. Its error shows nothing of the address, in
// which a password may be.
func proxyURL(value string) (*url.URL, error) {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("the proxy's address is no URL")
	}
	if !validPort(u) {
		return nil, fmt.Errorf("the proxy's address has a port that there is not")
	}
	if !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return nil, fmt.Errorf("there is no way to use a proxy of scheme %q", u.Scheme)
	}
	return u, nil
}

// exempt says whether a host is reached without a proxy: itself by loopback, or in a list of names (which stand for all
// below them too), names that begin with a dot (for those below alone), addresses, networks, and * for every host. An
// entry may end with a port. That is how curl, Go and Python read NO_PROXY.
func exempt(list, host, port string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	address, err := netip.ParseAddr(host)
	isAddress := err == nil
	address = address.Unmap()
	if host == "localhost" || isAddress && address.IsLoopback() {
		return true
	}
	for entry := range strings.FieldsFuncSeq(strings.ToLower(list), func(r rune) bool { return r == ',' || r == ' ' }) {
		if entry == "*" {
			return true
		}
		if network, err := netip.ParsePrefix(entry); err == nil {
			if isAddress && network.Contains(address) {
				return true
			}
			continue
		}
		if name, only, err := net.SplitHostPort(entry); err == nil {
			if only != port {
				continue
			}
			entry = name
		}
		entry = strings.Trim(entry, "[]")
		if listed, err := netip.ParseAddr(entry); err == nil {
			if isAddress && listed.Unmap() == address {
				return true
			}
			continue
		}
		if !isAddress && below(host, strings.TrimSuffix(strings.TrimPrefix(entry, "*"), ".")) {
			return true
		}
	}
	return false
}

// below says whether a host is a name or, of one that begins with a dot, lies below it alone.
func below(host, name string) bool {
	if parent, only := strings.CutPrefix(name, "."); only {
		return parent != "" && strings.HasSuffix(host, name)
	}
	return name != "" && (host == name || strings.HasSuffix(host, "."+name))
}
