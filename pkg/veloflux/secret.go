package veloflux

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// secretHeader says whether a header's value is a credential. Names that end in Auth, Key, Session, Signature, Jwt or
// Cookie are taken for such too: one name too many costs little.
func secretHeader(name string) bool {
	if redact.SecretName(name) {
		return true
	}
	words := strings.Split(strings.ToLower(name), "-")
	switch last := words[len(words)-1]; last {
	case "auth", "authentication", "cookie", "cookies", "session", "sessionid", "signature", "jwt", "assertion", "key", "apikey", "accesskey", "pwd", "pass":
		return true
	default:
		return strings.HasSuffix(last, "token") || strings.HasSuffix(last, "secret") || strings.HasSuffix(last, "password")
	}
}

// harmlessHeader says whether a header tells nothing of who asks, but what is asked, how it may be answered, and with
// which program.
func harmlessHeader(name string) bool {
	switch name {
	case "Accept", "Accept-Charset", "Accept-Language", "Cache-Control", "Content-Type", "Host", "Pragma", "User-Agent",
		"Traceparent", "Tracestate", "X-Correlation-Id", "X-Request-Id":
		return true
	}
	return false
}

// secretValues are the values of all headers but the harmless ones, and their parts: what a proxy takes for a credential
// is told by no name. A value that is too short to be found inside a text is one only where the name says so.
func secretValues(h http.Header) []string {
	var found []string
	for name, values := range h {
		if harmlessHeader(name) {
			continue
		}
		sure := secretHeader(name)
		for _, value := range values {
			if !sure && len(value) < shortest {
				continue
			}
			found = addSecret(found, value)
			for _, part := range secretParts(name, value) {
				if sure || len(part) >= shortest {
					found = addSecret(found, part)
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// shortest is from how many bytes on a value is looked for inside texts.
const shortest = 6

// secretParts are what is secret inside a header's value: what stands behind the scheme of Authorization, the password
// of its Basic form, and each cookie's value.
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
