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

// proxyRules select the proxy of a request: one for all requests, or by the environment's variables.
type proxyRules struct {
	// all is the URL of the proxy for all requests, "none", or empty for the rules below.
	all string
	// forHTTP and forHTTPS are for URLs of these schemes, except for the hosts that exceptions lists.
	forHTTP, forHTTPS, exceptions string
}

// noProxy is the value of the parameter proxy for a direct connection.
const noProxy = "none"

// proxiesFor reads the parameter proxy or, if that is empty, the variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the
// node's environment, also in lower case. HTTP_PROXY is ignored in a CGI program, where a client could set it with a header.
func proxiesFor(param string, env []string) (p proxyRules, f *fault.Fault) {
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
	p.forHTTP, p.forHTTPS, p.exceptions = first(plain...), first("HTTPS_PROXY", "https_proxy"), first("NO_PROXY", "no_proxy")
	return p, nil
}

func proxyFault(where string, err error) *fault.Fault {
	if err == nil {
		return nil
	}
	return fault.New(fault.Execution, "%s: %v", where, err).Suggest("Give a URL such as http://proxy.example.org:3128 (or https, socks5), or \"none\"")
}

// proxyFor returns the proxy of a URL; nil for a direct connection.
func (p *proxyRules) proxyFor(u *url.URL) (*url.URL, error) {
	switch {
	case p.all == noProxy:
		return nil, nil
	case p.all != "":
		return proxyURL(p.all)
	}
	value, name := p.forHTTP, "HTTP_PROXY"
	if u.Scheme == "https" {
		value, name = p.forHTTPS, "HTTPS_PROXY"
	}
	if value == "" || bypassesProxy(p.exceptions, u.Hostname(), portOf(u)) {
		return nil, nil
	}
	proxy, err := proxyURL(value)
	if f := proxyFault(name, err); f != nil {
		return nil, f
	}
	return proxy, nil
}

// proxyURL parses the address of a proxy, whose default scheme is http. Its errors do not show the address, which may
// contain a password.
func proxyURL(value string) (*url.URL, error) {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("the proxy's address is not a URL")
	}
	if !validPort(u) {
		return nil, fmt.Errorf("the port of the proxy's address must be from 1 to 65535")
	}
	if !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return nil, fmt.Errorf("proxies of scheme %q are not supported", u.Scheme)
	}
	return u, nil
}

// bypassesProxy reports whether a host is reached without a proxy: a loopback host, or one in a NO_PROXY list. Its entries
// are names, which include their subdomains; names with a leading dot, for subdomains only; addresses; networks; and * for
// every host. An entry may end with a port. Curl, Go and Python read NO_PROXY in this way.
func bypassesProxy(list, host, port string) bool {
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
		if !isAddress && matchesDomain(host, strings.TrimSuffix(strings.TrimPrefix(entry, "*"), ".")) {
			return true
		}
	}
	return false
}

// matchesDomain reports whether a host is the name or a subdomain of it. A name with a leading dot matches subdomains only.
func matchesDomain(host, name string) bool {
	if parent, only := strings.CutPrefix(name, "."); only {
		return parent != "" && strings.HasSuffix(host, name)
	}
	return name != "" && (host == name || strings.HasSuffix(host, "."+name))
}
