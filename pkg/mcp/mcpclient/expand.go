package mcpclient

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Expanded is a server's entry with every ${VAR} replaced, ready for Connect.
type Expanded struct {
	Server
	// Secrets are the values of the variables in env and headers, by name. They must not be shown.
	Secrets map[string]string
	// Undefined are the names of the variables that are not set and became empty. The user should be warned.
	Undefined []string
}

// Expand replaces ${VAR} and ${VAR:-default} in the command, arguments, folder, environment, URL and headers by the values that
// lookup returns; ${env:VAR} is another spelling of ${VAR}. The default replaces an unset or empty variable. Without a
// default, an unset variable becomes empty. Expand does not change the entry itself.
func (s Server) Expand(lookup func(name string) (string, bool)) Expanded {
	e := expander{lookup: lookup, secrets: map[string]string{}}
	x := Expanded{Server: s}
	x.Command, x.URL, x.Cwd = e.text(s.Command), e.text(s.URL), e.text(s.Cwd)
	x.Args = make([]string, len(s.Args))
	for i, arg := range s.Args {
		x.Args[i] = e.text(arg)
	}
	e.secret = true
	x.Env, x.Headers = e.texts(s.Env), e.texts(s.Headers)
	if name, value := e.authorization(s.rest["auth"]); name != "" {
		if x.Headers == nil {
			x.Headers = map[string]string{}
		}
		x.Headers[name] = value
	}
	x.Secrets, x.Undefined = e.secrets, e.undefined
	return x
}

type expander struct {
	lookup    func(string) (string, bool)
	secret    bool
	secrets   map[string]string
	undefined []string
}

func (e *expander) texts(m map[string]string) map[string]string {
	out := maps.Clone(m)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out[k] = e.text(m[k])
	}
	return out
}

// text expands one text. A ${ that is not followed by the name of a variable stays as it is.
func (e *expander) text(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "${")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		inner, rest, closed := strings.Cut(after, "}")
		name, fallback, hasDefault := strings.Cut(strings.TrimPrefix(inner, "env:"), ":-")
		if !closed || !isVariable(name) {
			b.WriteString("${")
			s = after
			continue
		}
		b.WriteString(e.value(name, fallback, hasDefault))
		s = rest
	}
}

func (e *expander) value(name, fallback string, hasDefault bool) string {
	v, ok := e.lookup(name)
	if hasDefault && v == "" {
		return fallback
	}
	if !ok && !slices.Contains(e.undefined, name) {
		e.undefined = append(e.undefined, name)
	}
	if e.secret && v != "" {
		e.secrets[name] = v
	}
	return v
}

func isVariable(name string) bool {
	letters := strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789")
	return name != "" && letters == "" && (name[0] < '0' || name[0] > '9')
}

// authorization returns the header for an "auth" object of upstream pflow, {"type":"bearer"|"api_key"|"basic",…}.
func (e *expander) authorization(raw json.RawMessage) (name, value string) {
	var auth struct{ Type, Token, Key, Header, Username, Password string }
	if json.Unmarshal(raw, &auth) != nil {
		return "", ""
	}
	switch auth.Type {
	case "bearer":
		return "Authorization", "Bearer " + e.text(auth.Token)
	case "api_key":
		if auth.Header == "" {
			auth.Header = "X-API-Key"
		}
		return auth.Header, e.text(auth.Key)
	case "basic":
		pair := e.text(auth.Username) + ":" + e.text(auth.Password)
		return "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
	}
	return "", ""
}
