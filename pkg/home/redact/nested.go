package redact

import "strings"

// maxNested limits how often a URL is percent-encoded within another.
const maxNested = 3

// nested finds credentials in percent-encoded URLs and parameters, as in ?next=https%3A%2F%2Fh%2F%3Ftoken%3D…: each word with an
// encoded = or @ or :// is searched once more as it was before it was encoded.
func (c *credentials) nested(depth int) {
	s := c.text
	for at := 0; depth < maxNested; {
		i := encodedSign(s[at:])
		if i < 0 {
			return
		}
		from := at + i
		for from > at && !endsWord(s[from-1]) {
			from--
		}
		at = c.word.endOf(s, at+i, endsWord)
		plain, places := unescaped(s[from:at])
		inner := searched(plain, false, depth+1)
		for _, sp := range inner.spans {
			sp.start, sp.end = from+places[sp.start], from+places[sp.end]
			sp.longest = sp.end - sp.start
			c.spans = append(c.spans, sp)
		}
		if at == len(s) && inner.open < len(plain) {
			c.open = min(c.open, from+places[inner.open])
		}
	}
}

// encodedSign returns the index of the first percent-encoded = or @ or :// in a text, also one that is encoded several times, or -1.
func encodedSign(s string) int {
	for at := 0; ; at++ {
		i := strings.IndexByte(s[at:], '%')
		if i < 0 {
			return -1
		}
		at += i
		rest := s[at+1:]
		for strings.HasPrefix(rest, "25") {
			rest = rest[2:]
		}
		switch {
		case strings.HasPrefix(rest, "40"), strings.HasPrefix(rest, "3D"), strings.HasPrefix(rest, "3d"):
			return at
		case strings.HasPrefix(rest, "3A"), strings.HasPrefix(rest, "3a"):
			if after := rest[2:]; strings.HasPrefix(after, "%2F") || strings.HasPrefix(after, "%2f") || strings.HasPrefix(after, "%252") {
				return at
			}
		}
	}
}

// unescaped resolves the percent escapes of a text once. The byte i of the result begins at places[i] of the text.
func unescaped(s string) (plain string, places []int) {
	b := make([]byte, 0, len(s))
	places = make([]int, 0, len(s)+1)
	for i := 0; i < len(s); i++ {
		places = append(places, i)
		if s[i] == '%' && i+2 < len(s) && hex(s[i+1]) >= 0 && hex(s[i+2]) >= 0 {
			b = append(b, byte(hex(s[i+1])<<4|hex(s[i+2])))
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return string(b), append(places, len(s))
}
