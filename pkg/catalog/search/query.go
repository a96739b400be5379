package search

import (
	"bytes"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// The worth of a word of the index for a word of a query, by their similarity. The same stem is worth 1.
const (
	worthPrefix   = 0.8 // times the part of the word that the query has
	worthSynonym  = 0.6
	worthMistyped = 0.7 // one edit away
	worthGarbled  = 0.5 // two edits away
	worthInside   = 0.4
)

// wanted is a word of a query.
type wanted struct {
	word, stem string
	// terms has for each index the terms that the word may mean, and their worth.
	terms []map[int]float64
	// weight is greater for rarer words.
	weight float64
}

// want returns the words of a query. It leaves out stop words unless there are no others.
func want(query string, over []*Index) []wanted {
	var list []wanted
	var all []string
	var letters letterSets
	scan(query, func(whole string, parts []string) {
		if len(all) >= maxWords {
			return
		}
		if len(parts) > 1 && !slices.ContainsFunc(over, func(x *Index) bool { _, ok := x.find(stem(whole)); return ok }) {
			all = append(all, parts...)
		} else {
			all = append(all, whole)
		}
	})
	all = bounded(all)
	silent := !slices.ContainsFunc(all, func(w string) bool { return !isStopWord(w) })
	for _, word := range all {
		if isStopWord(word) && !silent {
			continue
		}
		w := wanted{word: word, stem: stem(word)}
		if slices.ContainsFunc(list, func(o wanted) bool { return o.stem == w.stem }) {
			continue
		}
		if !w.literal(over) {
			if halves := split(word, over); halves != nil {
				list = append(list, halves...)
				continue
			}
			w.mistyped(over, letters.of(over))
			w.mistypedSynonym(over)
		}
		list = append(list, w)
	}
	total := 0
	for _, x := range over {
		total += x.docs
	}
	for i := range list {
		list[i].weight = math.Log(1 + float64(total+1)/(float64(list[i].frequency(over))+1))
	}
	return list
}

// maxWords is the number of words of a query that count.
const maxWords = 32

// QueryWords returns the words of a query that count: the first 32, and 64 bytes of each.
func QueryWords(query string) []string {
	var words []string
	scan(query, func(_ string, parts []string) {
		if len(words) < maxWords {
			words = append(words, parts...)
		}
	})
	return bounded(words)
}

func bounded(words []string) []string {
	words = words[:min(len(words), maxWords)]
	for i, w := range words {
		words[i] = shortened(w)
	}
	return words
}

// find returns the number of the term that equals stem, and whether there is one.
func (x *Index) find(stem string) (int, bool) {
	i := x.search(stem)
	return i, i < x.words() && string(x.bytes(i)) == stem
}

func (x *Index) search(prefix string) int {
	return sort.Search(x.words(), func(i int) bool { return string(x.bytes(i)) >= prefix })
}

// literal finds the terms that equal the word, begin with it, or are synonyms, and reports whether there are any.
func (w *wanted) literal(over []*Index) bool {
	others := synonymsOf(w.word, w.stem)
	found := false
	w.terms = make([]map[int]float64, len(over))
	for n, x := range over {
		w.terms[n] = map[int]float64{}
		for _, s := range others {
			if i, ok := x.find(s); ok {
				w.terms[n][i] = worthSynonym
				found = true
			}
		}
		for _, prefix := range []string{w.word, w.stem} {
			if n := utf8.RuneCountInString(prefix); n < 2 || n < 4 && prefix != w.word { // the stem of raed is ra
				continue
			}
			for i := x.search(prefix); i < x.words() && strings.HasPrefix(x.term(i), prefix); i++ {
				part := float64(len(prefix)) / float64(len(x.bytes(i)))
				w.terms[n][i] = max(w.terms[n][i], worthPrefix*max(part, 0.5))
				found = true
			}
		}
		if i, ok := x.find(w.stem); ok {
			w.terms[n][i] = 1
			found = true
		}
	}
	return found
}

// split takes a word apart into two known words. It returns nil if it cannot.
func split(word string, over []*Index) []wanted {
	for at := 3; at <= len(word)-3; at++ {
		if !utf8.RuneStart(word[at]) {
			continue
		}
		halves := []wanted{{word: word[:at], stem: stem(word[:at])}, {word: word[at:], stem: stem(word[at:])}}
		if slices.ContainsFunc(halves, func(h wanted) bool { return !known(h.stem, over) }) {
			continue
		}
		for i := range halves {
			halves[i].literal(over)
		}
		return halves
	}
	return nil
}

// known reports whether a stem occurs in a name.
func known(stem string, over []*Index) bool {
	return slices.ContainsFunc(over, func(x *Index) bool {
		i, ok := x.find(stem)
		if !ok {
			return false
		}
		named := false
		x.each(i, func(_ int, fields uint8) { named = named || fields&inName != 0 })
		return named
	})
}

// mistyped finds the terms that are similar to the word or contain it. It ignores short words, which are too similar to each
// other.
func (w *wanted) mistyped(over []*Index, letters [][]uint32) {
	most := w.edits()
	if most == 0 {
		return
	}
	word, stem := lettersOf([]byte(w.word)), lettersOf([]byte(w.stem))
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

// mistypedSynonym finds the synonyms of the words that this one is similar to.
func (w *wanted) mistypedSynonym(over []*Index) {
	most := min(w.edits(), 1)
	if most == 0 {
		return
	}
	for _, s := range meaning(w.word, func(other string) bool { return distance(w.word, other, most) <= most }) {
		for n, x := range over {
			if i, ok := x.find(s); ok {
				w.terms[n][i] = max(w.terms[n][i], worthSynonym*worthMistyped)
			}
		}
	}
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
			if near && worth < worthMistyped && worth != worthSynonym {
				delete(terms, i)
			}
		}
	}
}

// frequency returns the number of documents with the best of the terms.
func (w *wanted) frequency(over []*Index) int {
	best, count := 0.0, 0
	for n, x := range over {
		for i, worth := range w.terms[n] {
			docs := 0
			x.each(i, func(int, uint8) { docs++ })
			switch {
			case worth > best:
				best, count = worth, docs
			case worth == best:
				count += docs
			}
		}
	}
	return count
}
