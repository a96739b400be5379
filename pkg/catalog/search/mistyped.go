package search

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// mistyped finds the terms that are similar to the word or contain it. It ignores short words, which are too similar to each
// other.
func (w *wanted) mistyped(over []*Index, letters [][]uint32) {
	most := w.edits()
	if most == 0 {
		return
	}
	word, stem := lettersOf(w.word), lettersOf(w.stem)
	for n, x := range over {
		for i := range x.words() {
			if has := letters[n][i]; word&^has != 0 && differ(word, has) > 2*most && differ(stem, has) > 2*most {
				continue
			}
			term := x.bytes(i)
			if len(term) < 3 {
				continue
			}
			worth := 0.0
			switch d := min(distance(w.stem, string(term), most), distance(w.word, string(term), most)); {
			case d <= 1:
				worth = worthMistyped
			case d == 2 && most == 2:
				worth = worthGarbled
			case bytes.Contains(term, []byte(w.word)):
				worth = worthInside
			}
			if worth > 0 {
				w.terms[n][i] = max(w.terms[n][i], worth)
			}
		}
	}
	w.nearest()
}

// edits returns how many edits the word may be away from what is meant.
func (w *wanted) edits() int {
	switch n := utf8.RuneCountInString(w.word); {
	case n >= 7:
		return 2
	case n >= 4:
		return 1
	}
	return 0
}

// nearest drops the terms two edits away if there are terms one edit away.
func (w *wanted) nearest() {
	near := slices.ContainsFunc(w.terms, func(terms map[int]float64) bool {
		for _, worth := range terms {
			if worth == worthMistyped {
				return true
			}
		}
		return false
	})
	for _, terms := range w.terms {
		for i, worth := range terms {
			if near && worth < worthMistyped {
				delete(terms, i)
			}
		}
	}
}
