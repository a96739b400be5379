package veloflux

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// address is the parsed URL of a Manager.
type address struct {
	base string // without a trailing slash and without credentials
	url  *url.URL
	user *url.Userinfo
}

// parseAddress parses a Manager's URL. The scheme defaults to http. Its faults do not repeat the URL, which may hold a
// password.
func parseAddress(text string) (address, *fault.Fault) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	wrong := func(what string) (address, *fault.Fault) {
		return address{}, fault.New(fault.Usage, "The Manager's URL %s", what).Suggest("Write it as http://127.0.0.1:8080, followed by a path if the Manager is served below one")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return wrong("cannot be read as a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return wrong("must begin with http:// or https://")
	case u.Hostname() == "" || strings.ContainsAny(u.Host, " \t"):
		return wrong("has no host")
	case !validPort(u.Port()):
		return wrong("has an invalid port: it must be from 1 to 65535")
	case u.RawQuery != "" || u.ForceQuery:
		return wrong("must not have a query (the part after ?)")
	case u.Fragment != "":
		return wrong("must not have a fragment (the part after #)")
	case hasDotSegment(u.EscapedPath()):
		return wrong("must not have a segment . or .. in its path")
	}
	user := u.User
	u.User = nil
	u.Host = strings.TrimSuffix(u.Host, ":")
	base := strings.TrimRight(u.String(), "/")
	u, err = url.Parse(base)
	if err != nil {
		return wrong("cannot be read as a URL")
	}
	return address{base: base, url: u, user: user}, nil
}

func validPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n >= 1 && n <= 65535
}

// authorization returns the value of the Authorization header for user:password@, or "" if user is nil.
func authorization(user *url.Userinfo) string {
	if user == nil {
		return ""
	}
	password, _ := user.Password()
	req := http.Request{Header: http.Header{}}
	req.SetBasicAuth(user.Username(), password)
	return req.Header.Get("Authorization")
}

// appendUserSecrets appends the secrets in the user:password@ of a URL. A user name without a password is a token.
func appendUserSecrets(values []string, user *url.Userinfo) []string {
	if user == nil {
		return values
	}
	password, _ := user.Password()
	if password == "" {
		return addSecret(values, user.Username())
	}
	return addSecret(addSecret(values, password), user.Username()+":"+password)
}
