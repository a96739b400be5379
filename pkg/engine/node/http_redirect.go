package node

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// follow makes the call that a redirect asks for; followed is false when the response is none, or is wanted itself.
func (x *exchange) follow(resp *http.Response) (followed bool, f *fault.Fault) {
	location := resp.Header.Get("Location")
	if !redirects(resp.StatusCode) || location == "" || x.in.MaxRedirects == 0 {
		return false, nil
	}
	x.chain = append(x.chain, x.call.shown())
	next, err := x.call.url.Parse(location)
	switch {
	case err != nil:
		return false, fault.New(fault.Protocol, "%s redirects to what is no URL", x.call.shown()).
			Suggest(`With "max_redirects": 0 the redirect itself is the response`)
	case !validPort(next):
		return false, fault.New(fault.Protocol, "%s redirects to a port that there is not: %s", x.call.shown(), next.Port()).
			Suggest(`With "max_redirects": 0 the redirect itself is the response`)
	case next.Scheme != "http" && next.Scheme != "https" || next.Host == "":
		return false, fault.New(fault.Security, "%s redirects to a %s URL: only http and https are followed", x.call.shown(), next.Scheme).
			Suggest(`With "max_redirects": 0 the redirect itself is the response`)
	case len(x.chain) > x.in.MaxRedirects:
		to := outgoing{url: next, written: next.String()}
		return false, endless(append(x.chain, to.shown()), x.in.MaxRedirects)
	}
	x.call.redirect(next, resp.StatusCode)
	return true, nil
}

// redirects says whether a status sends the request elsewhere (RFC 9110, 15.4).
func redirects(status int) bool {
	return slices.Contains([]int{301, 302, 303, 307, 308}, status)
}

// endless is the fault of a request that is sent on and on.
func endless(chain []string, most int) *fault.Fault {
	last := len(chain) - 1
	what := "is redirected on and on"
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
		Suggest(`Ask for the address where the content is, or see where it leads with "max_redirects": 0`).Detail("redirects", chain)
}

// redirect makes it the call to another place. After 303, and after 301 and 302 in answer to a POST, that is a GET without
// the body, as everywhere (RFC 9110, 15.4). Credentials go to no other origin, and do not come back from there.
func (c *outgoing) redirect(to *url.URL, status int) {
	get := status == http.StatusSeeOther && c.method != http.MethodHead ||
		(status == http.StatusMovedPermanently || status == http.StatusFound) && c.method == http.MethodPost
	if get {
		c.method, c.body = http.MethodGet, nil
		for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Language", "Content-Location"} {
			c.header.Del(name)
		}
	}
	if trusted(c.url, to) {
		c.url, c.written = to, to.String()
		return
	}
	to.User = nil
	c.url, c.written, c.host, c.strayed = to, to.String(), "", true
	for name, values := range c.header {
		if slices.ContainsFunc(values, func(v string) bool { return c.credential(name, v) }) {
			delete(c.header, name)
		}
	}
}

// trusted says whether credentials for one place may go to another: to the same host and port with the same scheme, or
// from http to https where each has its own port.
func trusted(from, to *url.URL) bool {
	if !strings.EqualFold(from.Hostname(), to.Hostname()) {
		return false
	}
	upgrade := from.Scheme == "http" && to.Scheme == "https" && portOf(from) == "80" && portOf(to) == "443"
	return upgrade || from.Scheme == to.Scheme && portOf(from) == portOf(to)
}

// validPort says whether a URL has no port, or one that there can be.
func validPort(u *url.URL) bool {
	if u.Port() == "" {
		return true
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && n > 0
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// credential says whether a header is one, by its name or by what is in it.
func (c *outgoing) credential(name, value string) bool {
	scheme, _, spaced := strings.Cut(value, " ")
	return credentialName(name) ||
		spaced && slices.ContainsFunc([]string{"Basic", "Bearer", "Digest", "Negotiate"}, func(s string) bool { return strings.EqualFold(s, scheme) }) ||
		slices.ContainsFunc(c.secrets, func(s string) bool { return strings.Contains(value, s) })
}

// credentialName says whether a credential stands under a name. It says so of too many rather than of too few: a header
// that is left out on the way to another host is seldom missed.
func credentialName(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "cookie", "credential", "key", "pass", "secret", "session", "signature", "token"},
		func(part string) bool { return strings.Contains(lower, part) })
}
