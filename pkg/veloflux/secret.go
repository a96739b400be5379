package veloflux

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/redact"
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

// secretValues are the values of all headers that hold credentials, and their parts.
func secretValues(h http.Header) []string {
	var found []string
	for name, values := range h {
		if !secretHeader(name) {
			continue
		}
		for _, value := range values {
			found = addSecret(found, value)
			for _, part := range secretParts(name, value) {
				found = addSecret(found, part)
			}
		}
	}
	slices.Sort(found)
	return found
}

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
