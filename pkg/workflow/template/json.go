package template

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// space is what JSON takes for white space.
const space = " \t\r\n"

// embeddedLimit is the longest text that is tried as JSON.
const embeddedLimit = 10 << 20

// Embedded gives the JSON object or list that a JSON string of at most 10 MiB holds. Other JSON, and text that is none,
// is left alone.
func Embedded(raw json.RawMessage) (json.RawMessage, bool) {
	if len(raw) < 4 || raw[0] != '"' || len(raw) > len(`\u0000`)*embeddedLimit {
		return nil, false
	}
	text := unescape(raw)
	if len(text) > embeddedLimit {
		return nil, false
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || !json.Valid(text) {
		return nil, false
	}
	return slices.Clip(text), true
}

// stringEnd is where the JSON string ends that begins at i, behind its closing quote, or the end of s.
func stringEnd[T ~string | ~[]byte](s T, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(s)
}

// valueEnd is where the JSON value ends that begins at i.
func valueEnd(s []byte, i int) int {
	if i < len(s) && s[i] != '"' && s[i] != '{' && s[i] != '[' {
		if n := bytes.IndexAny(s[i:], space+",]}"); n >= 0 {
			return i + n
		}
		return len(s)
	}
	for depth := 0; i < len(s); {
		switch s[i] {
		case '"':
			i = stringEnd(s, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return len(s)
}

// member is the value of a key in a valid JSON object, of equal keys that of the first.
func member(object []byte, key string) (json.RawMessage, bool) {
	skip := func(i int, what string) int { return len(object) - len(bytes.TrimLeft(object[i:], what)) }
	for i := skip(1, space); i < len(object) && object[i] == '"'; {
		end := stringEnd(object, i)
		found := string(unescape(object[i:end])) == key
		begin := skip(end, space+":")
		end = valueEnd(object, begin)
		if found {
			return object[begin:end], true
		}
		i = skip(end, space+",")
	}
	return nil, false
}

// unquote is the text of a valid JSON string.
func unquote(quoted []byte) string { return string(unescape(quoted)) }

// unescape is the text of a valid JSON string, within it where it has no escapes. A surrogate that stands alone is
// U+FFFD, as in encoding/json; bytes that are no UTF-8 stay what they are.
func unescape(quoted []byte) []byte {
	if len(quoted) < len(`""`) {
		return nil // it is none
	}
	s := quoted[1 : len(quoted)-1]
	i := bytes.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for ; i >= 0 && i+1 < len(s); i = bytes.IndexByte(s, '\\') {
		out = append(out, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(s)
			s = s[min(4, len(s)):]
			if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
				if pair := utf16.DecodeRune(r, hex4(s[2:])); pair != utf8.RuneError {
					r, s = pair, s[6:]
				}
			}
			out = utf8.AppendRune(out, r)
			continue
		}
		out = append(out, c)
	}
	return append(out, s...)
}

// hex4 is the character of the four digits behind \u.
func hex4(s []byte) rune {
	n, err := strconv.ParseUint(string(s[:min(4, len(s))]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
