package oauth

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

const (
	// requestTimeout bounds each request of a login.
	requestTimeout = 10 * time.Second
	// refreshTimeout bounds the renewal of a token. Others wait for it as long as for a lock of the home.
	refreshTimeout = 8 * time.Second
	// refreshPatience is how long an interrupted program waits for a token that is being renewed.
	refreshPatience = 2 * time.Second
	// maxDocument is the most bytes of a metadata document. The SDK has the same limit for those that it reads.
	maxDocument = 1 << 20
	// maxRedirects is the most redirects of a request for metadata.
	maxRedirects = 5
)

// newClient returns a client for requests to the authorization server of an MCP server. A request with a body, which carries
// credentials, is not redirected. An authorization server at a private address is reached only if the MCP server is at one too:
// a server on the Internet must not be able to direct requests into a private network.
func newClient(ctx context.Context, server *url.URL) *http.Client {
	transport := &http.Transport{}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = t.Clone()
	}
	dialer := &net.Dialer{Timeout: requestTimeout}
	if !viaProxy(transport, server) && !atPrivateAddress(ctx, server.Hostname()) {
		dialer.Control = refusePrivate
	}
	transport.DialContext = dialer.DialContext
	return &http.Client{Transport: transport, Timeout: requestTimeout, CheckRedirect: checkRedirect}
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case first.Method != http.MethodGet:
		return http.ErrUseLastResponse
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case req.URL.Scheme != "https" && (req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host):
		return fmt.Errorf("a redirect to %s://%s, which is not https", req.URL.Scheme, req.URL.Host)
	}
	return nil
}

// viaProxy reports whether a proxy stands between this machine and the server. Then only the proxy's address is known here.
func viaProxy(t *http.Transport, server *url.URL) bool {
	if t.Proxy == nil {
		return false
	}
	proxy, err := t.Proxy(&http.Request{URL: server})
	return err == nil && proxy != nil
}

func atPrivateAddress(ctx context.Context, host string) bool {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return err == nil && slices.ContainsFunc(addresses, private)
}

func refusePrivate(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || private(at.Addr()) {
		return fmt.Errorf("the address %s is private, and that of the MCP server is not", address)
	}
	return nil
}

func private(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified() || a.IsMulticast()
}

// secure reports whether tokens may be sent to a URL: by https, or to this machine.
func secure(u *url.URL) bool {
	if u.Scheme == "https" {
		return u.Host != ""
	}
	a, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && a.Unmap().IsLoopback())
}
