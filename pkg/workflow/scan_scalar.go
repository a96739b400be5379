package workflow

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string and returns its text.
func (s *scanner) quoted() (string, bool) {
	from := s.pos
	escaped := false
	for s.pos++; s.pos < len(s.text); {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			if escaped {
				return unquote(s.text[from:s.pos]), true
			}
			return s.text[from+1 : s.pos-1], true
		case c < ' ':
			return "", s.control(from, c)
		case c == '\\':
			escaped = true
			if !s.escape() {
				return "", false
			}
		default:
			s.pos++
		}
	}
	return "", s.unclosed(from)
}

func (s *scanner) escape() bool {
	at := s.pos
	if s.pos+1 < len(s.text) {
		switch s.text[s.pos+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			s.pos += 2
			return true
		case 'u':
			c, ok := hex(s.text, s.pos+2)
			if !ok {
				break
			}
			if s.pos += 6; !utf16.IsSurrogate(c) {
				return true
			}
			if low, ok := hex(s.text, s.pos+2); ok && s.text[s.pos:s.pos+2] == `\u` && utf16.DecodeRune(c, low) != utf8.RuneError {
				s.pos += 6
				return true
			}
			s.note(at, s.path(), `%s is half of a surrogate pair`, s.text[at:at+6]).Suggest("Write both halves, or the character itself")
			return true
		}
	}
	return s.badEscape(at)
}

// hex parses four hexadecimal digits.
func hex(text string, at int) (rune, bool) {
	if at+4 > len(text) {
		return 0, false
	}
	n, err := strconv.ParseUint(text[at:at+4], 16, 16)
	return rune(n), err == nil
}

func (s *scanner) number() bool {
	from := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	whole := s.digits()
	if whole == 0 || whole > 1 && s.text[s.pos-whole] == '0' {
		return s.badNumber(from)
	}
	if s.peek() == '.' {
		if s.pos++; s.digits() == 0 {
			return s.badNumber(from)
		}
	}
	exponent := 0
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '-' || c == '+' {
			s.pos++
		}
		if exponent = s.digits(); exponent == 0 {
			return s.badNumber(from)
		}
	}
	if s.pos < len(s.text) && isWord(s.text[s.pos]) {
		return s.badNumber(from)
	}
	if length := s.pos - from; length > maxNumber {
		s.note(from, s.path(), "A number of %d characters, and at most %d are allowed", length, maxNumber).Suggest("Put it into quotes as text")
	} else if exponent > maxExponent {
		s.note(from, s.path(), "A number with an exponent of %d digits, and at most %d are allowed", exponent, maxExponent).Suggest("Put it into quotes as text")
	}
	return true
}

func (s *scanner) digits() int {
	from := s.pos
	for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - from
}

func (s *scanner) word() bool {
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(s.text[s.pos:], word) && (s.pos+len(word) == len(s.text) || !isWord(s.text[s.pos+len(word)])) {
			s.pos += len(word)
			return true
		}
	}
	return s.fail(s.pos, "a value")
}

// isWord reports whether a byte can be part of a word or number without quotes.
func isWord(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == '+' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
