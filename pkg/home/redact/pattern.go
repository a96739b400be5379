package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxRun is the number of backslashes before an escape that are read: enough for JSON inside JSON, four deep.
const maxRun = 8

// pattern is a text to search for: a value, or the part of its base64 form that does not depend on the bytes around the value.
type pattern struct {
	name   string
	text   string
	base64 bool
	// left and right are true if the character of base64 text before or behind the pattern has bits of the value too.
	left, right bool
}

// patternsOf returns the patterns of a value: itself, and the base64 form of it and of its escaped forms.
func patternsOf(s secret) []*pattern {
	patterns := append([]*pattern{{name: s.name, text: s.value}}, inEachPlace(s.name, s.value)...)
	for _, form := range escapedForms(s.value) {
		patterns = append(patterns, inEachPlace(s.name, form)...)
	}
	return patterns
}

// inEachPlace returns the patterns of a text in base64, for each place in a group of three bytes.
func inEachPlace(name, text string) (patterns []*pattern) {
	for offset := range 3 {
		all := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", offset) + text))
		from, to := (offset*8+5)/6, (offset+len(text))*8/6 // whole characters only
		patterns = append(patterns, &pattern{
			name: name, text: all[from:to], base64: true, left: offset > 0, right: (offset+len(text))%3 > 0,
		})
	}
	return patterns
}

// at matches the pattern at s[i:] in every encoding. It returns the farthest end, or 0 if nothing matches. More is true if a
// longer text could match, or match farther.
func (p *pattern) at(s string, i int, percent bool) (end int, more bool) {
	find := p.value
	if p.base64 {
		find = p.inBase64
	} else if strings.HasPrefix(s[i:], p.text) {
		end = i + len(p.text)
	}
	e, m := find(s, i, false)
	end, more = max(end, e), m
	if percent {
		e, m = find(s, i, true)
		end, more = max(end, e), more || m
	}
	return end, more || end == 0 && len(s)-i < len(p.text) && strings.HasPrefix(p.text, s[i:])
}

// value matches a value in which any character may be escaped as in JSON, any number of times, and percent-encoded if percent
// is true. The length of a run of backslashes does not matter, because it is unknown how often they were doubled.
func (p *pattern) value(s string, i int, percent bool) (end int, more bool) {
	return matchValue(p.text, s, i, percent)
}

func matchValue(v, s string, i int, percent bool) (end int, more bool) {
	afterRun := false
	for j := 0; j < len(v); {
		c, next := read(s, i, percent)
		if afterRun { // the run may have included the backslash of an escape
			n, after, wait := escape(v[j:], s, i, percent)
			more, afterRun = more || wait, false
			if n > 0 {
				i, j = after, j+n
				continue
			}
		}
		switch {
		case v[j] == '%' && strings.HasPrefix(s[i:], "%") && next != i+1:
			end, wait := matchPercent(v[j:], s, i)
			return end, more || wait
		case next == 0:
			return 0, true
		case v[j] == '\\':
			if c != '\\' {
				return 0, more
			}
			run := 0
			for ; j < len(v) && v[j] == '\\'; j++ {
				run++
			}
			var wait bool
			if i, wait = skipBackslashes(s, i, run*maxRun, percent, true); j == len(v) {
				return i, more || wait
			}
			afterRun = true
			continue
		case c == v[j], percent && v[j] == ' ' && s[i] == '+':
			i, j = next, j+1
			continue
		case v[j] >= utf8.RuneSelf && c == 0xEF && invalid(v[j:]): // a JSON encoder writes U+FFFD for invalid UTF-8
			if !strings.HasPrefix(s[i:], "\uFFFD") {
				return 0, more || strings.HasPrefix("\uFFFD", s[i:])
			}
			i, j = i+len("\uFFFD"), j+1
			continue
		case c != '\\':
			return 0, more
		}
		i, _ = skipBackslashes(s, i, maxRun, percent, false)
		n, next, wait := escape(v[j:], s, i, percent)
		if n == 0 {
			return 0, more || wait
		}
		i, j = next, j+n
	}
	return i, more
}

// matchPercent matches a value that begins with % at a % in a text, which may be literal or begin an escape. If it is literal,
// the hexadecimal digits behind it may be in the other case, as in a normalized URL.
func matchPercent(v, s string, i int) (end int, more bool) {
	c, next := read(s, i, true)
	more = next == 0
	try := func(v string, at int) {
		e, m := matchValue(v, s, at, true)
		end, more = max(end, e), more || m
	}
	try(v[1:], i+1)
	if next > 0 && c == '%' {
		try(v[1:], next)
	}
	if same, after := read(v, 0, true); next > 0 && after == len("%25") && same == c {
		try(v[after:], next)
	}
	return end, more
}

func invalid(v string) bool {
	r, n := utf8.DecodeRuneInString(v)
	return r == utf8.RuneError && n == 1
}

// inBase64 matches base64 text in either alphabet, with or without line breaks.
func (p *pattern) inBase64(s string, i int, percent bool) (end int, more bool) {
	breaks := 0
	for j := 0; j < len(p.text); {
		c, next := read(s, i, percent)
		switch {
		case next == 0:
			return 0, true
		case standard(c) == p.text[j]:
			i, j, breaks = next, j+1, 0
			continue
		case (c == '\n' || c == '\r') && j > 0 && breaks < 2:
			i, breaks = next, breaks+1
			continue
		case c != '\\':
			return 0, false
		}
		i, _ = skipBackslashes(s, i, maxRun, percent, false)
		if c, next := read(s, i, percent); next > 0 && (c == 'n' || c == 'r') && j > 0 && breaks < 2 {
			i, breaks = next, breaks+1
			continue
		}
		n, next, wait := escape(p.text[j:], s, i, percent)
		if n == 0 {
			return 0, wait
		}
		i, j, breaks = next, j+n, 0
	}
	if !p.right {
		return i, false
	}
	for k := range 3 { // the last bits, then padding
		c, next := read(s, i, percent)
		if next == 0 {
			return i, true
		}
		if c != '=' && (k > 0 || !isBase64(c)) {
			break
		}
		i = next
	}
	return i, false
}

// read returns the byte at s[i], decoded if percent is true, and the place of the next one. The place is 0 if the text ends
// before the byte does.
func read(s string, i int, percent bool) (c byte, next int) {
	if i >= len(s) {
		return 0, 0
	}
	if percent && s[i] == '%' {
		digits := s[i+1 : min(i+3, len(s))]
		switch {
		case digits != "" && hex(digits[0]) < 0 || len(digits) == 2 && hex(digits[1]) < 0:
		case len(digits) < 2:
			return 0, 0
		default:
			return byte(hex(digits[0])<<4 | hex(digits[1])), i + 3
		}
	}
	return s[i], i + 1
}

// skipBackslashes returns the place behind a run of backslashes, also written \u005c if coded is true. More is true if the text
// ends within the run.
func skipBackslashes(s string, i, limit int, percent, coded bool) (next int, more bool) {
	for range limit {
		c, n := read(s, i, percent)
		if n == 0 {
			return i, true
		}
		if coded && c == 'u' {
			if r, after := hex4(s, n, percent); r == '\\' {
				i = after
				continue
			} else if after == 0 {
				return i, true
			}
		}
		if c != '\\' {
			return i, false
		}
		i = n
	}
	return i, false
}

// escape matches the rest of a JSON escape, behind its backslash, with the beginning of v. It returns in n the number of bytes
// of v that match.
func escape(v, s string, i int, percent bool) (n, next int, more bool) {
	c, next := read(s, i, percent)
	if next == 0 {
		return 0, 0, true
	}
	if c != 'u' {
		if k := strings.IndexByte(`nrtbf"/'`, c); k >= 0 && v[0] == "\n\r\t\b\f\"/'"[k] {
			return 1, next, false
		}
		return 0, 0, false
	}
	r, next := hex4(s, next, percent)
	if next == 0 {
		return 0, 0, true
	}
	if utf16.IsSurrogate(r) {
		low, _ := skipBackslashes(s, next, maxRun, percent, false)
		c, after := read(s, low, percent)
		if after == 0 {
			return 0, 0, true
		}
		if c == 'u' && low > next {
			r2, end := hex4(s, after, percent)
			if end == 0 {
				return 0, 0, true
			}
			r, next = utf16.DecodeRune(r, r2), end
		}
	}
	want, n := utf8.DecodeRuneInString(v)
	if r != want {
		return 0, 0, false
	}
	return n, next, false
}

// hex4 reads four hexadecimal digits. It returns -1 for other characters, and 0 as next if the text ends before.
func hex4(s string, i int, percent bool) (r rune, next int) {
	for range 4 {
		c, n := read(s, i, percent)
		if n == 0 {
			return -1, 0
		}
		d := hex(c)
		if d < 0 {
			return -1, n
		}
		r, i = r<<4|rune(d), n
	}
	return r, i
}

func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// standard returns the character of base64's standard alphabet for one of the URL alphabet.
func standard(c byte) byte {
	switch c {
	case '-':
		return '+'
	case '_':
		return '/'
	}
	return c
}

func isBase64(c byte) bool {
	c = standard(c)
	return upper(c) || lower(c) || c >= '0' && c <= '9' || c == '+' || c == '/'
}
