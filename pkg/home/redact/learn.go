package redact

import (
	"encoding/json"
	"strings"
	"unsafe"
)

// maxLearned limits the secrets that a Redactor learns from texts, because every secret makes the search slower. The credentials
// beyond it are still redacted by their place.
const maxLearned = 1000

// AddCredentials makes the credentials in a text secrets: the passwords of URLs, and the values of parameters and cookies whose
// names are those of credentials. They are found in other texts from then on.
func (r *Redactor) AddCredentials(text string) { r.learn(credentialsIn(text, false)) }

// AddCredentialsOf is AddCredentials for the strings of valid JSON. A string under a key that ends in Cookie is the value of a
// header.
func (r *Redactor) AddCredentialsOf(raw json.RawMessage) {
	text := unsafe.String(unsafe.SliceData(raw), len(raw)) // only read, and not kept
	if !mayHaveCredentialsInJSON(text) {
		return
	}
	var found []secret
	walk(text, func(t token) {
		if t.number || len(found) >= maxLearned {
			return
		}
		for _, c := range credentialsIn(t.text(text), t.cookies) {
			found = append(found, secret{strings.Clone(c.name), strings.Clone(c.value)})
		}
	})
	r.learn(found)
}

// mayHaveCredentialsInJSON is mayHaveCredentials for JSON text, in which = and @ may be escaped or in base64.
func mayHaveCredentialsInJSON(text string) bool {
	return mayHaveCredentials(text) || strings.Contains(text, `\u00`) || strings.Contains(text, "$base64")
}

// learn adds the secrets that are new, up to the limit.
func (r *Redactor) learn(found []secret) {
	known := r.known.Load()
	var fresh []secret
	for _, s := range found {
		if _, old := known.whole[s.value]; !old {
			fresh = append(fresh, s)
		}
	}
	if len(fresh) > 0 && r.learned.Add(int64(len(fresh))) <= maxLearned {
		r.add(fresh)
	}
}
