package redact

import (
	"iter"
	"slices"
	"strings"
)

const (
	// ellipsis stands where something was left out of a text to keep it short.
	ellipsis = "…"
	// telling is from how many bytes on a part of a secret tells something of it.
	telling = 4
	// maxCuts is how many places are looked at in one text: more are no excerpts put together, but a text of its own.
	maxCuts = 100
)

// cuts adds to what was found in a text the parts of secrets that are left where it was cut.
func (m *matcher) cuts(s string, spans []span) []span {
	if len(m.patterns) == 0 || !strings.Contains(s, ellipsis) {
		return spans
	}
	found := len(spans)
	for at := range cutsOf(s) {
		if from := m.begins(s[:at]); at-from >= telling {
			spans = append(spans, span{start: from, end: at})
		}
		after := at + len(ellipsis)
		if n := m.ends(s[after:]); n >= telling {
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

// cutsOf gives the places of a text at which something was left out.
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

// begins is where a secret may begin that goes on behind the text.
func (m *matcher) begins(s string) int {
	from := max(0, len(s)-maxRun*m.longest()) // each character may be an escape
	_, cut := m.scan(s[from:], false)
	return from + cut
}

// ends is where the text that begins in the middle of a secret leaves it, 0 when it does not begin so.
func (m *matcher) ends(s string) int {
	far := 0
	for _, p := range m.patterns {
		for skip := 1; skip <= len(p.text)-telling; skip++ {
			rest := *p
			rest.text = p.text[skip:]
			end, _ := rest.at(s, 0, true)
			far = max(far, end)
		}
	}
	return far
}

// longest is how many bytes the longest pattern has.
func (m *matcher) longest() int {
	n := 0
	for _, p := range m.patterns {
		n = max(n, len(p.text))
	}
	return n
}
