package redact

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unsafe"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// JSON redacts valid JSON token by token: strings and keys, with any escapes, and numbers of six or more digits that are a
// secret as a whole. A string under a key that is a SecretName, directly or in a list, becomes a secret itself, unless it is
// empty or a single ${…}. A string under a key that ends in Cookie is the value of a header. JSON reports whether it redacted anything; if not, it returns raw itself.
func (r *Redactor) JSON(raw json.RawMessage) (json.RawMessage, bool) { return r.document(raw, plain) }

// Named is like JSON, but the mark is <redacted:NAME>. NAME is the key for a string under a secret name, and else the name of the
// value. So a digest of the result does not change with a rotated secret, and does not reveal one.
func (r *Redactor) Named(raw json.RawMessage) json.RawMessage {
	out, _ := r.document(raw, named)
	return out
}

func (r *Redactor) document(raw json.RawMessage, mark marker) (json.RawMessage, bool) {
	if len(raw) == 0 {
		return raw, false
	}
	text := unsafe.String(unsafe.SliceData(raw), len(raw)) // only read, and not kept
	var found []secret
	walk(text, func(t token) {
		if t.secret != "" {
			if value := t.text(text); hidden(value) {
				found = append(found, secret{t.secret, strings.Clone(value)})
			}
		}
	})
	if len(found) > 0 {
		r.add(found)
	} else if r.Empty() && !mayHaveCredentialsInJSON(text) {
		return raw, false
	}
	known := r.known.Load()
	var out []byte
	at := 0
	walk(text, func(t token) {
		clean, changed := known.token(t, text, mark)
		if !changed {
			return
		}
		if out == nil {
			out = make([]byte, 0, len(raw))
		}
		out = append(append(out, raw[at:t.start]...), rawjson.Quote(clean)...)
		at = t.end
	})
	if out == nil {
		return raw, false
	}
	return append(out, raw[at:]...), true
}

// hidden reports whether a string under a secret name is a secret. An unresolved template is not, nor a redacted value.
func hidden(value string) bool { return value != "" && !isMark(value) && !isTemplate(value) }

// isTemplate reports whether a text is exactly one ${…}.
func isTemplate(s string) bool {
	if !strings.HasPrefix(s, "${") {
		return false
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i == len(s)-1
			}
		}
	}
	return false
}

// token redacts one token.
func (m *matcher) token(t token, source string, mark marker) (string, bool) {
	text := t.text(source)
	switch {
	case t.number:
		name, ok := m.whole[text]
		return mark(name), ok && len(text) >= inside
	case t.secret != "" && hidden(text):
		return mark(t.secret), true
	}
	if t.binary {
		if clean, ok := binaryWithoutCredentials(text, mark); ok {
			again, _ := m.textIn(clean, mark, false)
			return again, true
		}
	}
	return m.textIn(text, mark, t.cookies)
}

// binaryWithoutCredentials redacts the credentials in bytes that are written in base64. It reports whether there are any.
func binaryWithoutCredentials(encoded string, mark marker) (string, bool) {
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", false
	}
	text := string(content)
	spans := united(nil, findCredentials(text, false).spans)
	if len(spans) == 0 {
		return "", false
	}
	return base64.StdEncoding.EncodeToString([]byte(replace(text, spans, mark))), true
}

// token is a string, a key or a number in JSON text, quotes included.
type token struct {
	start, end int
	number     bool
	// secret is the key of the string if that is a SecretName, else "".
	secret string
	// cookies is true if the key of the string is that of a Cookie or Set-Cookie header.
	cookies bool
	// binary is true if the key of the string is $base64: it stands for bytes that are not UTF-8.
	binary bool
}

// text returns the token's value. It is a part of the source for a number and for a string without escapes.
func (t token) text(source string) string {
	raw := source[t.start:t.end]
	if t.number {
		return raw
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(raw, `"`), `"`)
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) != nil {
		return inner
	}
	return s
}

// level is an object or a list around the current token.
type level struct {
	object, key bool   // key is true if a key comes next
	secret      string // the key of the next value if it is a SecretName
	cookies     bool   // the key of the next value ends in Cookie
	binary      bool   // the key of the next value is $base64
}

// walk visits the strings, keys and numbers of valid JSON in order.
func walk(s string, visit func(token)) {
	levels := make([]level, 1, 16)
	for i := 0; i < len(s); {
		top := &levels[len(levels)-1]
		switch c := s[i]; {
		case c == '"':
			t := token{start: i, end: stringEnd(s, i)}
			if top.object && top.key {
				top.secret, top.cookies = "", false
				name := t.text(s)
				if SecretName(name) {
					top.secret = strings.Clone(name)
				}
				const cookie = "cookie"
				top.binary = name == "$base64"
				top.cookies = len(name) >= len(cookie) && strings.EqualFold(name[len(name)-len(cookie):], cookie)
			} else {
				t.secret, t.cookies, t.binary = top.secret, top.cookies, top.binary
			}
			visit(t)
			i = t.end
			continue
		case c == '-' || c >= '0' && c <= '9':
			t := token{start: i, end: i + 1, number: true}
			for t.end < len(s) && strings.IndexByte("+-.eE0123456789", s[t.end]) >= 0 {
				t.end++
			}
			visit(t)
			i = t.end
			continue
		case c == '{':
			levels = append(levels, level{object: true, key: true})
		case c == '[':
			levels = append(levels, level{secret: top.secret, cookies: top.cookies})
		case (c == '}' || c == ']') && len(levels) > 1:
			levels = levels[:len(levels)-1]
		case c == ':':
			top.key = false
		case c == ',':
			top.key = true
		}
		i++
	}
}

// stringEnd returns the end of the string that begins at s[i].
func stringEnd(s string, i int) int {
	for i++; i < len(s); {
		k := strings.IndexByte(s[i:], '"')
		if k < 0 {
			break
		}
		i += k
		backslashes := 0
		for s[i-1-backslashes] == '\\' {
			backslashes++
		}
		i++
		if backslashes%2 == 0 {
			return i
		}
	}
	return len(s)
}
