package redact

import (
	"iter"
	"slices"
	"strings"
)

const (
	// ellipsis marks the place where a text was shortened.
	ellipsis = "…"
	// leastPart is the least length in bytes of a part of a secret that is redacted.
	leastPart = 4
	// maxCuts limits the places that are searched in one text. A text with more ellipses is not made of excerpts.
	maxCuts = 100
)

// cuts adds to the spans of a text the parts of secrets before and behind the places where it was shortened.
func (m *matcher) cuts(s string, spans []span) []span {
	if len(m.patterns) == 0 || !strings.Contains(s, ellipsis) {
		return spans
	}
	found := len(spans)
	for at := range cutsOf(s) {
		if from := m.begins(s[:at]); at-from >= leastPart {
			spans = append(spans, span{start: from, end: at})
		}
		after := at + len(ellipsis)
		if n := m.ends(s[after:]); n >= leastPart {
			spans = append(spans, span{start: after, end: after + n})
		}
	}
	if len(spans) == found {
		return spans
	}
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var united []span
	for _, sp := range spans {
		united = unite(united, sp)
	}
	return united
}

// cutsOf returns the places where a text was shortened.
func cutsOf(s string) iter.Seq[int] {
	return func(yield func(int) bool) {
		at := 0
		for range maxCuts {
			i := strings.Index(s[at:], ellipsis)
			if i < 0 || !yield(at+i) {
				return
			}
			at += i + len(ellipsis)
		}
	}
}

// begins returns the place in the text where a secret may begin that continues behind it, or its length.
func (m *matcher) begins(s string) int {
	from := max(0, len(s)-maxRun*m.longest()) // each character may be escaped
	_, cut := m.scan(s[from:], false)
	return from + cut
}

// ends returns the place where the secret ends in whose middle the text begins, or 0 if it does not.
func (m *matcher) ends(s string) int {
	far := 0
	for _, p := range m.patterns {
		for skip := 1; skip <= len(p.text)-leastPart; skip++ {
			rest := *p
			rest.text = p.text[skip:]
			end, _ := rest.at(s, 0, true)
			far = max(far, end)
		}
	}
	return far
}

// longest returns the length in bytes of the longest pattern.
func (m *matcher) longest() int {
	n := 0
	for _, p := range m.patterns {
		n = max(n, len(p.text))
	}
	return n
}
