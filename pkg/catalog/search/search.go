package search

import (
	"cmp"
	"slices"
	"strings"
)

// Hit is a document that a search has found.
type Hit struct {
	// Index and Document say which: the index as they were given to Search, and its document.
	Index, Document int
	// Score is how well it fits: about 1 where every word of the query stands in the name, less where words are
	// mistyped or stand elsewhere.
	Score float64
	// All says that every word of the query stands in it somehow, or all of its name in the query.
	All bool

	// named says that its whole name stands in the query.
	named bool
}

// What a word is worth by where it stands in a document.
const (
	worthName        = 1.0
	worthDescription = 0.45
	worthParams      = 0.25
	worthTwice       = 0.1 // in addition, where it stands in the description too
)

// What else is worth something when the hits are ordered.
const (
	worthWhole = 0.25 // the whole name stands in the query
	worthFirst = 0.05 // in the first of several indexes
)

// What a document that lacks words of the query must score to be worth telling: a part of the best score, and at least
// something.
const (
	leastPart  = 0.5
	leastScore = 0.15
)

// Search finds the documents that fit a query, best first: the one of that very name, then those in which all its words
// stand, then those in which some do, as far as they come near the best. Rare words count more, and a word in the name
// more than one in the description, and that more than one among the parameters. A document whose whole name stands in the
// query counts as one with all its words. Equals stand by their names, which name gives. A query without words finds
// nothing, and of a long one what QueryWords gives counts. Several indexes are searched as if they were one, but that near
// equals of the first come first.
func Search(query string, name func(index, doc int) string, over ...*Index) []Hit {
	words := want(query, over)
	var hits []Hit
	exact := strings.Join(QueryWords(query), "")
	for n, x := range over {
		hits = append(hits, x.hits(n, words)...)
	}
	best, whole := 0.0, 0.0
	for i := range hits {
		h := &hits[i]
		if h.Score >= likely { // no other can bear the very name
			switch given := name(h.Index, h.Document); {
			case given == query:
				h.Score += 2
			case strings.Join(Words(given), "") == exact:
				h.Score++
			}
		}
		best = max(best, min(h.Score, 1))
		if h.All && !h.named {
			whole = max(whole, min(h.Score, 1))
		}
	}
	if whole > 0 { // what has some of the words is measured at what has all of them
		best = whole
	}
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return !h.All && h.Score < max(leastPart*best, leastScore) })
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(rung(b), rung(a)), cmp.Compare(b.standing(), a.standing()),
			cmp.Compare(name(a.Index, a.Document), name(b.Index, b.Document)))
	})
	return hits
}

// likely is a score under that of a document that has the query as its name.
const likely = 0.9

// standing is the score by which hits are ordered.
func (h Hit) standing() float64 {
	score := h.Score
	if h.named {
		score += worthWhole
	}
	if h.Index == 0 {
		score += worthFirst
	}
	return score
}

// rung is 2 for the very name, 1 for all words, and 0.
func rung(h Hit) int {
	switch {
	case h.Score > 1.5+worthTwice:
		return 2
	case h.All:
		return 1
	}
	return 0
}

// hits rates the documents of one index.
func (x *Index) hits(index int, words []wanted) []Hit {
	if len(words) == 0 || x.docs == 0 {
		return nil
	}
	rated := make([]rating, x.docs)
	total := 0.0
	for w, word := range words {
		total += word.weight
		for term, worth := range word.terms[index] {
			x.each(term, func(doc int, fields uint8) { rated[doc].see(w, worth, fields) })
		}
		for i := range rated {
			rated[i].settle(w, word.weight)
		}
	}
	var hits []Hit
	for doc := range rated {
		r := &rated[doc]
		if r.words == 0 {
			continue
		}
		// Of two names with the same words in them the shorter one fits better.
		named := float64(r.named) / float64(max(int(x.nameWords[doc]), 1))
		h := Hit{Index: index, Document: doc, Score: (r.sum/total + nameShare*min(named, 1)) / (1 + nameShare), All: r.words == len(words)}
		if r.exact > 0 && r.exact == int(x.nameWords[doc]) {
			h.named, h.All = true, true
		}
		hits = append(hits, h)
	}
	return hits
}

// nameShare is what it is worth that the query names all words of the name.
const nameShare = 0.3

// rating is what the words seen so far are worth to a document.
type rating struct {
	sum          float64
	words, named int
	exact        int // words that stand in the name as they are

	// of is the word that is being looked at, best what it is worth.
	of    int
	best  float64
	title bool
	whole bool
	seen  bool
}

func (r *rating) see(word int, worth float64, fields uint8) {
	if !r.seen || r.of != word {
		r.of, r.best, r.title, r.whole, r.seen = word, 0, false, false, true
	}
	r.best = max(r.best, worth*place(fields))
	r.whole = r.whole || worth == 1 && fields&inName != 0
	r.title = r.title || fields&inName != 0
}

func (r *rating) settle(word int, weight float64) {
	if !r.seen || r.of != word {
		return
	}
	r.sum += weight * r.best
	r.words++
	if r.title {
		r.named++
	}
	if r.whole {
		r.exact++
	}
	r.seen = false
}

// place is what the fields are worth in which a word stands.
func place(fields uint8) float64 {
	twice := 0.0
	if fields&inDescription != 0 {
		twice = worthTwice
	}
	switch {
	case fields&inName != 0:
		return worthName + twice
	case fields&inDescription != 0:
		return worthDescription
	}
	return worthParams
}
