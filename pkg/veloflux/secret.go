package veloflux

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// secretHeader reports whether the value of a header is a credential. It also accepts names that end in Auth, Key,
// Session, Signature, Jwt or Cookie: a name too many does little harm.
func secretHeader(name string) bool {
	if redact.SecretName(name) {
		return true
	}
	if redact.PlaceToken(name) {
		return false
	}
	words := strings.Split(strings.ToLower(name), "-")
	switch last := words[len(words)-1]; last {
	case "auth", "authentication", "cookie", "cookies", "session", "sessionid", "signature", "jwt", "assertion", "key", "apikey", "accesskey", "pwd", "pass":
		return true
	default:
		return strings.HasSuffix(last, "token") || strings.HasSuffix(last, "secret") || strings.HasSuffix(last, "password")
	}
}

// harmlessHeader reports whether a header cannot identify the user. name is in canonical form.
func harmlessHeader(name string) bool {
	switch name {
	case "Accept", "Accept-Charset", "Accept-Language", "Cache-Control", "Content-Type", "Host", "Pragma", "User-Agent",
		"Traceparent", "Tracestate", "X-Correlation-Id", "X-Request-Id":
		return true
	}
	return false
}

// secretValues returns the values of all headers except the harmless ones, and their parts: any header may be a
// credential to a proxy, whatever its name. Values shorter than minSecret count only if the name is that of a secret.
func secretValues(h http.Header) []string {
	var found []string
	for name, values := range h {
		if harmlessHeader(name) {
			continue
		}
		sure := secretHeader(name)
		for _, value := range values {
			if !sure && len(value) < minSecret {
				continue
			}
			found = addSecret(found, value)
			for _, part := range secretParts(name, value) {
				if sure || len(part) >= minSecret {
					found = addSecret(found, part)
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// minSecret is the least bytes of a value that a redactor looks for inside texts.
const minSecret = 6

// secretParts returns the secrets inside a header's value: the text after the scheme of an Authorization, the password of
// its Basic form, and the value of each cookie.
func secretParts(name, value string) []string {
	if name == "Cookie" {
		var parts []string
		for pair := range strings.SplitSeq(value, ";") {
			if _, v, ok := strings.Cut(pair, "="); ok {
				parts = append(parts, strings.Trim(v, ` "`))
			}
		}
		return parts
	}
	scheme, rest, found := strings.Cut(value, " ")
	if !found {
		return nil
	}
	parts := []string{strings.TrimSpace(rest)}
	if strings.EqualFold(scheme, "basic") {
		if plain, err := base64.StdEncoding.DecodeString(parts[0]); err == nil {
			user, password, _ := strings.Cut(string(plain), ":")
			if password == "" {
				password = user
			}
			parts = append(parts, password)
		}
	}
	return parts
}

func addSecret(to []string, value string) []string {
	if value == "" || slices.Contains(to, value) {
		return to
	}
	return append(to, value)
}
