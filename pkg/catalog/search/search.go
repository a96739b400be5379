package search

import (
	"cmp"
	"slices"
	"strings"
)

// Hit is a document that a search found.
type Hit struct {
	// Index is the position of the document's index in the arguments of Search, and Document its number in that index.
	Index, Document int
	// Score rates the match: about 1 if every word of the query occurs in the name, less if words are mistyped or occur
	// elsewhere.
	Score float64
	// All is true if every word of the query matches the document, or every word of its name is in the query.
	All bool

	// named is true if every word of its name is in the query.
	named bool
	name  string
}

// The worth of a word by the fields in which it occurs.
const (
	worthName        = 1.0
	worthDescription = 0.45
	worthParams      = 0.25
	worthTwice       = 0.1 // in addition, if it occurs in the description too
)

// What is added to a score to order the hits.
const (
	worthWhole = 0.25 // the whole name is in the query
	worthFirst = 0.05 // the document is in the first index
)

// The least score of a document that does not match all words of the query: leastPart of the best score, and at least
// leastScore.
const (
	leastPart  = 0.5
	leastScore = 0.15
)

// Search returns the documents that match a query, best first: those with exactly that name, then those that match all words,
// then those that match some words and score nearly as well. Rare words count more. A word in the name counts more than one in
// the description, and that more than one in the parameters. A document whose whole name is in the query counts as one that
// matches all words. Documents with equal scores are sorted by name; the function name returns the name of a document.
//
// A query without words matches nothing. Of a long query only the words that QueryWords returns count. Several indexes are
// searched as if they were one, except that documents of the first index rank a little higher.
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
		if h.Score >= likely { // no other can have exactly this name
			switch documentName := name(h.Index, h.Document); {
			case documentName == query:
				h.Score += 2
			case strings.Join(Words(documentName), "") == exact:
				h.Score++
			}
		}
		best = max(best, min(h.Score, 1))
		if h.All && !h.named {
			whole = max(whole, min(h.Score, 1))
		}
	}
	if whole > 0 { // matches of some words are compared with the best match of all words
		best = whole
	}
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return !h.All && h.Score < max(leastPart*best, leastScore) })
	for i := range hits {
		hits[i].name = name(hits[i].Index, hits[i].Document) // once, not for each comparison
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(tier(b), tier(a)), cmp.Compare(b.sortScore(), a.sortScore()), cmp.Compare(a.name, b.name))
	})
	return hits
}

// likely is less than the score of any document whose name is the query.
const likely = 0.9

// sortScore returns the score by which hits are ordered.
func (h Hit) sortScore() float64 {
	score := h.Score
	if h.named {
		score += worthWhole
	}
	if h.Index == 0 {
		score += worthFirst
	}
	return score
}

// tier returns 2 if the name is exactly the query, 1 if all words match, and otherwise 0.
func tier(h Hit) int {
	switch {
	case h.Score > 1.5+worthTwice:
		return 2
	case h.All:
		return 1
	}
	return 0
}

// hits returns the documents of one index that match some words, with their scores.
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
		// Of two names that contain the same words the shorter one matches better.
		named := float64(r.named) / float64(max(int(x.nameWords[doc]), 1))
		h := Hit{Index: index, Document: doc, Score: (r.sum/total + nameShare*min(named, 1)) / (1 + nameShare), All: r.words == len(words)}
		if r.exact > 0 && r.exact == int(x.nameWords[doc]) {
			h.named, h.All = true, true
		}
		hits = append(hits, h)
	}
	return hits
}

// nameShare is the worth of a query that contains all words of the name.
const nameShare = 0.3

// rating adds up what the words of a query are worth in a document.
type rating struct {
	sum          float64
	words, named int
	exact        int // words that occur in the name without a change

	// of is the current word, and best its worth. title is true if it occurs in the name, whole if it does so without a change,
	// and seen if it occurs anywhere.
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
	r.best = max(r.best, worth*worthOf(fields))
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

// worthOf returns the worth of a word by the fields in which it occurs.
func worthOf(fields uint8) float64 {
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
