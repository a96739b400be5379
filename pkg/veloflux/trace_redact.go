package veloflux

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/redact"
)

// SQLMode says what becomes of SQL in a trace.
type SQLMode string

// The modes: SQL as it is, its digest as sql_hash, or nothing of it. In the last two the Manager's own text is left out of
// error messages too, for it may quote the SQL.
const (
	SQLRaw    SQLMode = "raw"
	SQLHash   SQLMode = "hash"
	SQLRedact SQLMode = "redact"
)

// cleaner takes out of one entry what can be told by where it stands: SQL, values under secret names, the userinfo of URLs.
// What it finds to be secret it keeps, so that it can be looked for everywhere else.
type cleaner struct {
	mode    SQLMode
	secrets []string
	sql     []string
	// excerpt says that the arguments are a text of which only the beginning may stay.
	excerpt bool
}

// hides says whether SQL must not be seen. An unknown mode hides it.
func (c *cleaner) hides() bool { return c.mode != SQLRaw && c.mode != "" }

// maxNested is how often JSON may be written as text inside JSON. What is deeper is taken out as a whole.
const maxNested = 3

// rewrite cleans compact JSON. What is not to be cleaned keeps its bytes.
func (c *cleaner) rewrite(raw json.RawMessage, nested int) json.RawMessage {
	out := make([]byte, 0, len(raw)+64)
	for i := 0; i < len(raw); {
		next := bytes.IndexByte(raw[i:], '"')
		if next < 0 {
			return append(out, raw[i:]...)
		}
		out = append(out, raw[i:i+next]...)
		i += next
		end := stringEnd(raw, i)
		if end == len(raw) || raw[end] != ':' {
			out = append(out, c.token(raw[i:end], nested)...)
			i = end
			continue
		}
		key := decoded(raw[i:end])
		rest := raw[end+1:]
		name, clean := c.member(key, rest, nested)
		if name == key {
			out = append(out, c.token(raw[i:end], nested)...)
		} else {
			out = append(out, rawjson.Quote(name)...)
		}
		out = append(out, ':')
		i = end + 1
		if clean != nil {
			out = append(out, clean...)
			i += valueEnd(rest)
		}
	}
	return out
}

// member cleans the first value of rest where its key says what it is, and gives the key that it has then; nil where the
// key does not say.
func (c *cleaner) member(key string, rest json.RawMessage, nested int) (string, json.RawMessage) {
	text := rest[0] == '"'
	switch {
	case bytes.ContainsAny(rest[:1], "tfn"): // true, false, null
	case redact.SecretName(key):
		return key, c.secret(rest[:valueEnd(rest)])
	case strings.EqualFold(key, "sql") && (text || c.hides()):
		return c.statement(key, rest[:valueEnd(rest)], nested)
	case text && namesPlace(key):
		if where := decoded(rest[:valueEnd(rest)]); !strings.Contains(where, "//") {
			if clean := c.place(where); clean != where {
				return key, rawjson.Quote(clean)
			}
		}
	}
	return key, nil
}

// secret keeps a value under a secret name, and gives what stands for it: an empty one may stay.
func (c *cleaner) secret(value json.RawMessage) json.RawMessage {
	switch string(value) {
	case `""`, `[]`, `{}`:
		return value
	}
	switch value[0] {
	case '"':
		c.learn(decoded(value))
	case '{', '[':
		for i := 0; i < len(value); i++ {
			if value[i] != '"' {
				continue
			}
			end := stringEnd(value, i)
			if end < len(value) && value[end] != ':' {
				c.learn(decoded(value[i:end]))
			}
			i = end - 1
		}
	default:
		c.learn(string(value))
	}
	return rawjson.Quote(redact.Mark)
}

// learn keeps a secret, also without the scheme of an Authorization header before it.
func (c *cleaner) learn(value string) {
	for _, v := range withoutScheme(value) {
		if len(c.secrets) == 0 || c.secrets[len(c.secrets)-1] != v {
			c.secrets = append(c.secrets, v)
		}
	}
}

// withoutScheme is a secret, and the credentials in it when it is a header's value such as "Bearer …".
func withoutScheme(value string) []string {
	value = strings.TrimSpace(value)
	if value == "" || value == redact.Mark {
		return nil
	}
	scheme, credentials, ok := strings.Cut(value, " ")
	for _, known := range [...]string{"Bearer", "Basic", "Token"} {
		if ok && strings.EqualFold(scheme, known) {
			return []string{value, strings.TrimSpace(credentials)}
		}
	}
	return []string{value}
}

// statement keeps the SQL of a call and gives what the mode makes of it.
func (c *cleaner) statement(key string, value json.RawMessage, nested int) (string, json.RawMessage) {
	text := string(value)
	if value[0] == '"' {
		text = decoded(value)
	}
	switch c.mode {
	case SQLRaw, "":
		return key, c.token(value, nested)
	case SQLHash:
		sum := sha256.Sum256([]byte(text))
		key, value = "sql_hash", rawjson.Quote("sha256:"+hex.EncodeToString(sum[:]))
	default:
		value = rawjson.Quote(redact.Mark)
	}
	c.sql = append(c.sql, text)
	return key, value
}

// token cleans a JSON string.
func (c *cleaner) token(raw json.RawMessage, nested int) json.RawMessage {
	if !bytes.ContainsAny(raw, `@{["=%\`) { // nothing that could begin any of what is looked for
		return raw
	}
	text := decoded(raw)
	clean := c.document(text, nested)
	if clean == text {
		return raw
	}
	return rawjson.Quote(clean)
}

// document cleans a text, which may be JSON itself.
func (c *cleaner) document(text string, nested int) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !strings.Contains(`{["`, trimmed[:1]) {
		return c.text(text)
	}
	switch {
	case !json.Valid([]byte(trimmed)):
		return c.text(untilSecretName(text))
	case nested == maxNested:
		return redact.Mark
	}
	compact := rawjson.Compact(json.RawMessage(trimmed))
	clean := c.rewrite(compact, nested+1)
	if bytes.Equal(clean, compact) {
		return text
	}
	return string(clean)
}

// text cleans a text of what is told by a URL.
func (c *cleaner) text(text string) string { return c.parameters(c.userinfo(text)) }

// untilSecretName is a text up to the first secret name in it: nobody knows where the secret behind it ends.
func untilSecretName(text string) string {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !inName(r) {
			i += size
			continue
		}
		end := len(text)
		if n := strings.IndexFunc(text[i:], func(r rune) bool { return !inName(r) }); n >= 0 {
			end = i + n
		}
		if redact.SecretName(text[i:end]) && end < len(text) {
			return text[:end] + redact.Mark
		}
		i = end
	}
	return text
}

func inName(r rune) bool {
	return r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// decoded is what a JSON string says.
func decoded(raw json.RawMessage) string {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// redactor knows the Manager's secrets and those of an entry. What an entry taught is not kept for the next.
func (t *tracer) redactor(own []string) *redact.Redactor {
	var known []string
	if t.secrets != nil {
		for _, s := range t.secrets() {
			known = append(known, withoutScheme(s)...)
		}
	}
	if len(own) > 0 {
		return knowing(append(known, own...))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.standing == nil || !slices.Equal(t.known, known) {
		t.standing, t.known = knowing(known), known
	}
	return t.standing
}

// knowing makes a redactor that learns all secrets in one step, which many single ones would not.
func knowing(secrets []string) *redact.Redactor {
	r := redact.New()
	if doc, err := rawjson.Marshal(map[string][]string{"secret": secrets}); err == nil && len(secrets) > 0 {
		r.JSON(doc)
	}
	return r
}
