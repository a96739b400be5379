package node

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// follow changes the request to what a redirect asks for. followed is false if the response is not a redirect, or is the one
// that the node wants.
func (x *exchange) follow(resp *http.Response) (followed bool, f *fault.Fault) {
	location := resp.Header.Get("Location")
	if !isRedirect(resp.StatusCode) || location == "" || x.in.MaxRedirects == 0 {
		return false, nil
	}
	x.visited = append(x.visited, x.request.displayURL())
	next, err := x.request.url.Parse(location)
	switch {
	case err != nil:
		return false, fault.New(fault.Protocol, "%s redirects to an invalid URL", x.request.displayURL()).
			Suggest(`Set "max_redirects": 0 to receive the redirect itself as the response`)
	case !validPort(next):
		return false, fault.New(fault.Protocol, "%s redirects to an invalid port: %s", x.request.displayURL(), next.Port()).
			Suggest(`Set "max_redirects": 0 to receive the redirect itself as the response`)
	case next.Scheme != "http" && next.Scheme != "https" || next.Host == "":
		return false, fault.New(fault.Security, "%s redirects to a %s URL; only http and https are followed", x.request.displayURL(), next.Scheme).
			Suggest(`Set "max_redirects": 0 to receive the redirect itself as the response`)
	case len(x.visited) > x.in.MaxRedirects:
		to := outgoing{url: next, written: next.String()}
		return false, redirectFault(append(x.visited, to.displayURL()), x.in.MaxRedirects)
	}
	x.request.redirect(next, resp.StatusCode)
	return true, nil
}

// isRedirect reports whether a status redirects the request (RFC 9110, 15.4).
func isRedirect(status int) bool {
	return slices.Contains([]int{301, 302, 303, 307, 308}, status)
}

// redirectFault is the fault of a request with more than the allowed redirects, often a loop.
func redirectFault(chain []string, most int) *fault.Fault {
	last := len(chain) - 1
	what := "is redirected too often"
	shown := chain
	if first := slices.Index(chain, chain[last]); first < last {
		what, shown = "is redirected in a loop", chain[first:]
		if round := slices.Index(shown[1:], shown[0]); round >= 0 {
			shown = shown[:round+2]
		}
	} else if len(chain) > 6 {
		shown = slices.Concat(chain[:3], []string{"…"}, chain[last-1:])
	}
	return fault.New(fault.Execution, "Request to %s %s, stopped after %d redirects: %s", chain[0], what, most, strings.Join(shown, " → ")).
		Suggest(`Use the final URL, or set "max_redirects": 0 to see where the first redirect leads`).Detail("redirects", chain)
}

// redirect changes the request to another URL. After 303, and after 301 and 302 in response to a POST, it becomes a GET
// without a body, as in browsers (RFC 9110, 15.4). At the first change of origin it loses its credentials for good.
func (c *outgoing) redirect(to *url.URL, status int) {
	get := status == http.StatusSeeOther && c.method != http.MethodHead ||
		(status == http.StatusMovedPermanently || status == http.StatusFound) && c.method == http.MethodPost
	if get {
		c.method, c.body = http.MethodGet, nil
		for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Language", "Content-Location"} {
			c.header.Del(name)
		}
	}
	if sameOrigin(c.url, to) {
		c.url, c.written = to, to.String()
		return
	}
	to.User = nil
	c.url, c.written, c.host, c.leftOrigin = to, to.String(), "", true
	for name, values := range c.header {
		if slices.ContainsFunc(values, func(v string) bool { return c.isCredential(name, v) }) {
			delete(c.header, name)
		}
	}
}

// sameOrigin reports whether credentials for one URL may be sent to another: to the same host, port and scheme, or from http
// to https if both use their default ports.
func sameOrigin(from, to *url.URL) bool {
	if !strings.EqualFold(from.Hostname(), to.Hostname()) {
		return false
	}
	upgrade := from.Scheme == "http" && to.Scheme == "https" && portOf(from) == "80" && portOf(to) == "443"
	return upgrade || from.Scheme == to.Scheme && portOf(from) == portOf(to)
}

// validPort reports whether a URL has no port, or one from 1 to 65535.
func validPort(u *url.URL) bool {
	if u.Port() == "" {
		return true
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && n > 0
}

// portOf returns the port of a URL, by default its scheme's.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// isCredential reports whether a header is a credential, by its name or its value.
func (c *outgoing) isCredential(name, value string) bool {
	scheme, _, spaced := strings.Cut(value, " ")
	return isCredentialName(name) ||
		spaced && slices.ContainsFunc([]string{"Basic", "Bearer", "Digest", "Negotiate"}, func(s string) bool { return strings.EqualFold(s, scheme) }) ||
		slices.ContainsFunc(c.secrets, func(s string) bool { return strings.Contains(value, s) })
}

// isCredentialName reports whether a header or parameter of this name may be a credential. It prefers false positives: a
// header left out on the way to another host is seldom missed.
func isCredentialName(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "cookie", "credential", "key", "pass", "secret", "session", "signature", "token"},
		func(part string) bool { return strings.Contains(lower, part) })
}
