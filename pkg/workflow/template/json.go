package template

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// space is white space as RFC 8259, section 2, defines it.
const space = " \t\r\n"

// embeddedLimit is the length in bytes of the longest text that is parsed as JSON.
const embeddedLimit = 10 << 20

// Embedded returns the JSON object or list that a JSON string of at most 10 MiB holds. It returns false for other JSON
// values and for strings that hold anything else.
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

// stringEnd returns the offset just after the closing quote of the JSON string that begins at i, or len(s) if it has none.
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

// valueEnd returns the offset just after the JSON value that begins at i.
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

// member returns the value of a key in a valid JSON object. Of equal keys the first counts.
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

// unquote returns the text of a valid JSON string.
func unquote(quoted []byte) string { return string(unescape(quoted)) }

// unescape returns the text of a valid JSON string; without escapes, the result is part of quoted. A lone surrogate becomes
// U+FFFD, as in encoding/json. Bytes that are not valid UTF-8 are kept.
func unescape(quoted []byte) []byte {
	if len(quoted) < len(`""`) {
		return nil // not a string
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

// hex4 returns the character that the four digits after \u denote.
func hex4(s []byte) rune {
	n, err := strconv.ParseUint(string(s[:min(4, len(s))]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
