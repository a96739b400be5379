package redact

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"strings"
)

// matcher finds all secrets in one pass. It is immutable.
type matcher struct {
	// whole maps each value to its name, including the short ones.
	whole map[string]string
	// short is true if some value is too short to be searched for in longer texts.
	short    bool
	patterns []*pattern
	byFirst  [256][]*pattern
	byPair   map[uint16][]*pattern
	// pairs has a bit for each pair of bytes with which a match may begin. It keeps the search fast in texts without secrets.
	pairs [1024]uint64
}

// with returns a matcher that also finds the given values. The receiver must not have them.
func (m *matcher) with(fresh []secret) *matcher {
	w := &matcher{whole: maps.Clone(m.whole), short: m.short, byPair: map[uint16][]*pattern{}}
	if w.whole == nil {
		w.whole = map[string]string{}
	}
	w.patterns = append(w.patterns, m.patterns...)
	for _, s := range fresh {
		w.whole[s.value] = s.name
		if len(s.value) < inside {
			w.short = true
			continue
		}
		w.patterns = append(w.patterns, patternsOf(s)...)
	}
	for _, p := range w.patterns {
		w.index(p)
	}
	for c := range 256 { // an escape may begin with these
		w.pair('%', byte(c))
		w.pair('\\', byte(c))
	}
	return w
}

// index enters a pattern under every spelling of its first two characters.
func (m *matcher) index(p *pattern) {
	firsts, seconds := spellings(p, p.text), append(spellings(p, p.text[1:]), '%', '\\')
	switch {
	case p.base64:
		seconds = append(seconds, '\n', '\r')
	case p.text[0] == '%' && hex(p.text[1]) > 9: // the digit in the other case
		seconds = append(seconds, p.text[1]^0x20)
	}
	for _, a := range firsts {
		m.byFirst[a] = append(m.byFirst[a], p)
		for _, b := range seconds {
			key := uint16(a)<<8 | uint16(b)
			m.byPair[key] = append(m.byPair[key], p)
			m.pair(a, b)
		}
	}
}

// spellings returns the bytes that may stand for the first byte of text, except escapes.
func spellings(p *pattern, text string) []byte {
	c := text[0]
	switch {
	case p.base64 && c == '+':
		return []byte("+-")
	case p.base64 && c == '/':
		return []byte("/_")
	case !p.base64 && c == ' ':
		return []byte(" +")
	case !p.base64 && c >= 0x80 && c != 0xEF:
		return []byte{c, 0xEF}
	}
	return []byte{c}
}

func (m *matcher) pair(a, b byte) {
	key := uint16(a)<<8 | uint16(b)
	m.pairs[key>>6] |= 1 << (key & 63)
}

// span is a part of a text that will be replaced. Its name is that of the longest secret in it.
type span struct {
	start, end int
	name       string
	longest    int
}

// scan finds the secrets in a text and unites those that overlap. If more text may follow (final is false), cut is the end of the
// part that further text cannot change, and spans are those of that part.
func (m *matcher) scan(s string, final bool) (spans []span, cut int) {
	if len(m.patterns) == 0 || final && len(s) < inside {
		return nil, len(s)
	}
	percent := strings.ContainsAny(s, "%+")
	for i := 0; i < len(s); i++ {
		if i+1 < len(s) {
			if key := uint16(s[i])<<8 | uint16(s[i+1]); m.pairs[key>>6]&(1<<(key&63)) == 0 {
				continue
			}
		}
		more := m.tryAt(s, i, percent, &spans)
		if more && !final {
			return hold(s, i, spans)
		}
	}
	if !final {
		return hold(s, len(s), spans)
	}
	return spans, len(s)
}

// hold cuts a text before i, or before the span or the character of base64 text that reaches i.
func hold(s string, i int, spans []span) ([]span, int) {
	n := len(spans)
	switch {
	case n > 0 && spans[n-1].end > i:
		return spans[:n-1], spans[n-1].start
	case n > 0 && spans[n-1].end == i:
	case i > 0 && isBase64(s[i-1]):
		i--
	}
	return spans, i
}

// tryAt adds a secret that begins at s[i] to the spans, and reports whether a secret may begin there whose end is missing.
func (m *matcher) tryAt(s string, i int, percent bool, spans *[]span) (more bool) {
	lists, more := m.candidates(s, i)
	for _, list := range lists {
		for _, p := range list {
			end, wait := p.at(s, i, percent)
			more = more || wait
			if end == 0 {
				continue
			}
			start := i
			if p.left && i > 0 && isBase64(s[i-1]) {
				start--
			}
			*spans = unite(*spans, span{start, end, p.name, end - start})
		}
	}
	return more
}

// candidates returns the patterns that may begin at s[i], by the first two bytes or by the first escape.
func (m *matcher) candidates(s string, i int) (lists [3][]*pattern, more bool) {
	c := s[i]
	if i+1 == len(s) {
		return [3][]*pattern{m.byFirst[c]}, c == '%' || c == '\\'
	}
	switch c {
	case '%':
		b, next := read(s, i, true)
		if next == 0 {
			return lists, true
		}
		if b == '\\' { // JSON in a percent-encoded text
			return [3][]*pattern{m.patterns}, false
		}
		lists[1] = m.byFirst[b]
	case '\\':
		lists[1] = m.byFirst['\\']
		letter, _ := skipBackslashes(s, i, maxRun, false, false)
		if letter == len(s) {
			return lists, true
		}
		if k := strings.IndexByte("nrtbf", s[letter]); k >= 0 {
			lists[2] = m.byFirst["\n\r\t\b\f"[k]]
		} else if s[letter] == 'u' {
			r, next := hex4(s, letter+1, false)
			switch {
			case next == 0:
				return lists, true
			case r >= 0 && r < 0x80:
				lists[2] = m.byFirst[r]
			case r >= 0:
				lists[2] = m.patterns
			}
		} else {
			lists[2] = m.byFirst[s[letter]]
		}
		return lists, false
	}
	lists[0] = m.byPair[uint16(c)<<8|uint16(s[i+1])]
	return lists, false
}

// unite adds a span to the others and unites it with those that it overlaps. The others begin at most one character later.
func unite(spans []span, found span) []span {
	for n := len(spans); n > 0 && spans[n-1].end > found.start; n-- {
		last := spans[n-1]
		found.start, found.end = min(found.start, last.start), max(found.end, last.end)
		if last.longest >= found.longest {
			found.name, found.longest = last.name, last.longest
		}
		spans = spans[:n-1]
	}
	return append(spans, found)
}

// isWhole reports whether a text as a whole is a secret, and returns its name. It decodes only short texts, because scan finds
// the encodings of longer ones.
func (m *matcher) isWhole(s string) (name string, ok bool) {
	if name, ok = m.whole[s]; ok || !m.short || len(s) > inside*maxRun {
		return name, ok
	}
	var decoded []string
	if strings.IndexByte(s, '\\') >= 0 {
		var text string
		if json.Unmarshal([]byte(`"`+s+`"`), &text) == nil {
			decoded = append(decoded, text)
		}
	}
	for _, unescape := range [...]func(string) (string, error){url.QueryUnescape, url.PathUnescape} {
		if text, err := unescape(s); err == nil {
			decoded = append(decoded, text)
		}
	}
	for _, encoding := range [...]*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if text, err := encoding.DecodeString(strings.TrimRight(s, "=")); err == nil {
			decoded = append(decoded, string(text))
		}
	}
	for _, text := range decoded {
		if name, ok = m.whole[text]; ok {
			return name, ok
		}
	}
	return "", false
}
