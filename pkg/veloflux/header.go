package veloflux

import (
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// headers are the headers that every request sends.
type headers struct {
	fixed http.Header
	file  *headerFile // may be nil
}

func newHeaders(user *url.Userinfo, given http.Header, file string) (*headers, *fault.Fault) {
	h := &headers{fixed: http.Header{"User-Agent": {"veloflux-mcp"}}}
	if basic := authorization(user); basic != "" {
		h.fixed.Set("Authorization", basic)
	}
	checked := http.Header{}
	for name, values := range given {
		for _, value := range values {
			if err := addHeader(checked, name, value); err != nil {
				return nil, fault.New(fault.Usage, "%v", err).Suggest("Write a header as Name: value, in one line")
			}
		}
	}
	maps.Copy(h.fixed, checked)
	if file == "" {
		return h, nil
	}
	if f := checkPath("header file", file); f != nil {
		return nil, f
	}
	h.file = &headerFile{path: file}
	if _, err := h.file.read(); err != nil {
		return nil, fault.New(fault.Usage, "%v", err).Suggest(`Each line of the header file is "Name: value", a # comment or blank`)
	}
	return h, nil
}

// current returns the headers for a request made now. An error is about the header file; the headers are then those that
// the file had before.
func (h *headers) current() (http.Header, error) {
	all := h.fixed.Clone()
	if h.file == nil {
		return all, nil
	}
	fresh, err := h.file.read()
	maps.Copy(all, fresh)
	return all, err
}

// ParseHeader parses headers, each as "Name: value", for Config. Its errors are faults that do not show values.
func ParseHeader(lines []string) (http.Header, error) {
	found := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fault.New(fault.Usage, "A header has no colon").Suggest("Write it as Name: value")
		}
		if err := addHeader(found, name, value); err != nil {
			return nil, fault.New(fault.Usage, "%v", err)
		}
	}
	return found, nil
}

// addHeader adds a header if it can be sent. Its errors name the header and never show its value.
func addHeader(to http.Header, name, value string) error {
	if !isToken(name) {
		return fmt.Errorf("A header name may have only letters, digits and -") //nolint:staticcheck // a sentence of its own
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	value = textproto.TrimString(value)
	switch {
	case ownHeader(name):
		return fmt.Errorf("The header %s cannot be set: it belongs to the connection", name) //nolint:staticcheck // likewise
	case !isFieldValue(value):
		return fmt.Errorf("The header %s has a line break or another control character in its value", name) //nolint:staticcheck // likewise
	case name == "Host" && !isHost(value):
		return fmt.Errorf("The header Host must be a host, with or without a port") //nolint:staticcheck // likewise
	}
	to[name] = append(to[name], value)
	return nil
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return s != "" && strings.Trim(s, letters+"!#$%&'*+-.^_`|~") == ""
}

// isFieldValue reports whether s may be the value of a header: it must not have control characters other than the tab
// (RFC 9110, section 5.5).
func isFieldValue(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) < 0
}

func isHost(s string) bool {
	u, err := url.Parse("http://" + s)
	return err == nil && u.Host == s && u.Hostname() != "" && u.Path == ""
}

// ownHeader reports whether only the HTTP client may set a header. That includes Accept-Encoding, because the client
// decompresses only what it asked for itself.
func ownHeader(name string) bool {
	switch name {
	case "Content-Length", "Transfer-Encoding", "Trailer", "Te", "Connection", "Keep-Alive", "Proxy-Connection", "Upgrade", "Expect", "Accept-Encoding":
		return true
	}
	return false
}
