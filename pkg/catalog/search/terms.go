package search

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// The worth of a word of the index for a word of a query, by their similarity. The same stem is worth 1.
const (
	worthSame     = 0.95 // another form of the word, or a short one
	worthSynonym  = 0.75
	worthRelated  = 0.65
	worthPrefix   = 0.4 // times the part of the word that the query has
	worthMistyped = 0.6 // one edit away
	worthGarbled  = 0.5 // two edits away
	worthInside   = 0.4
	worthGuess    = 0.65 // times the worth of a meaning, if the word is mistyped
)

// What the weight of a word is multiplied by.
const (
	timesLight = 0.2 // a word that only goes with another
	timesValue = 0.2 // a part of a value that the query mentions
	timesAfter = 0.8 // a word after a preposition: in "the comments on a page", the comments are wanted
)

// wanted is a word or a phrase of a query.
type wanted struct {
	word, stem string
	// plural is true if its last word is a plural.
	plural bool
	manner
	// read is true if it stands for all names of tools that read something.
	read bool
	// terms has for each index the terms that it may mean, and their worth.
	terms []map[int]float64
	// phrases has for each index the lists of terms that it may mean where all of a list occur.
	phrases [][]phrase
	// guessed is true if it is nowhere and its terms are similar words, of which one is meant.
	guessed bool
	// docs is the number of documents with the best of the terms, and weight is greater if there are fewer. grouped is true if the word
	// is in the name of a group.
	docs    int
	weight  float64
	grouped bool
}

// phrase is a list of terms that mean something together.
type phrase struct {
	terms []int
	worth float64
}

// newWanted returns a word without terms.
func newWanted(word, stemmed string, plural bool, over []*Index) wanted {
	w := wanted{word: word, stem: stemmed, plural: plural, terms: make([]map[int]float64, len(over)), phrases: make([][]phrase, len(over))}
	for n := range over {
		w.terms[n] = map[int]float64{}
	}
	return w
}

// find returns the number of the term that equals stem, and whether there is one.
func (x *Index) find(stem string) (int, bool) {
	i := x.search(stem)
	return i, i < x.words() && string(x.bytes(i)) == stem
}

func (x *Index) search(prefix string) int {
	return sort.Search(x.words(), func(i int) bool { return string(x.bytes(i)) >= prefix })
}

// literal finds the term that equals the word, or else, with prefixes, those that begin with it. It reports whether there are any.
func (w *wanted) literal(over []*Index, prefixes bool) bool {
	found := false
	for n, x := range over {
		if i, ok := x.find(w.stem); ok {
			w.terms[n][i] = 1
			found = true
		}
	}
	if found || !prefixes {
		return found
	}
	for n, x := range over {
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
	}
	return found
}

// means adds the terms of the meanings of an entry of the thesaurus, and reports whether an index has any.
func (w *wanted) means(times float64, entry string, over []*Index) bool {
	found := false
	for m := range meaningsOf(entry) {
		found = w.mean(strings.Split(m.stems, "-"), m.worth*times, over) || found
	}
	return found
}

// mean adds the terms of a word or a phrase that it may mean, and reports whether an index has them.
func (w *wanted) mean(stems []string, worth float64, over []*Index) bool {
	found := false
	for n, x := range over {
		terms := x.all(stems)
		switch {
		case terms == nil:
			continue
		case len(terms) == 1:
			w.terms[n][terms[0]] = max(w.terms[n][terms[0]], worth)
		default:
			w.phrases[n] = append(w.phrases[n], phrase{terms, worth})
		}
		found = true
	}
	return found
}

// all returns the terms that equal the stems, or nil if one is missing.
func (x *Index) all(stems []string) []int {
	terms := make([]int, len(stems))
	for i, s := range stems {
		var ok bool
		if terms[i], ok = x.find(s); !ok {
			return nil
		}
	}
	return terms
}

// split takes a word apart into two known words. It returns nil if it cannot.
func split(word string, over []*Index) []wanted {
	for at := 3; at <= len(word)-3; at++ {
		if !utf8.RuneStart(word[at]) {
			continue
		}
		halves := make([]wanted, 2)
		for i, half := range []string{word[:at], word[at:]} {
			halves[i] = newWanted(half, stem(half), isPlural(half), over)
		}
		if slices.ContainsFunc(halves, func(h wanted) bool { return !known(h.stem, over) }) {
			continue
		}
		for i := range halves {
			halves[i].literal(over, false)
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
		x.each(i, func(_ int, at place) { named = named || at >= atGroup })
		return named
	})
}

// count sets docs and grouped.
func (w *wanted) count(over []*Index) {
	best := 0.0
	add := func(worth float64, docs int) {
		switch {
		case worth > best:
			best, w.docs = worth, docs
		case worth == best:
			w.docs += docs
		}
	}
	for n, x := range over {
		for i, worth := range w.terms[n] {
			docs := 0
			x.each(i, func(_ int, at place) {
				docs++
				w.grouped = w.grouped || worth == 1 && at == atGroup
			})
			add(worth, docs)
		}
		for _, p := range w.phrases[n] {
			docs := 0
			x.eachOf(p.terms, func(int, place) { docs++ })
			if docs > 0 {
				add(p.worth, docs)
			}
		}
	}
}

// eachOf calls f for every document in which all terms occur, with the place that counts least.
func (x *Index) eachOf(terms []int, f func(doc int, at place)) {
	type found struct {
		doc int
		at  place
	}
	var list []found
	x.each(terms[0], func(doc int, at place) { list = append(list, found{doc, at}) })
	for _, t := range terms[1:] {
		next, kept := 0, list[:0]
		x.each(t, func(doc int, at place) {
			for next < len(list) && list[next].doc < doc {
				next++
			}
			if next < len(list) && list[next].doc == doc {
				kept = append(kept, found{doc, both(list[next].at, at)})
				next++
			}
		})
		list = kept
	}
	for _, d := range list {
		f(d.doc, d.at)
	}
}
