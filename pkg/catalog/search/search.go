package search

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Hit is a document that a search found.
type Hit struct {
	// Index is the position of the document's index in the arguments of Search, and Document its number in that index.
	Index, Document int32
	// Score rates the match: about 1 if every word of the query occurs in the name, less if words are mistyped, are synonyms
	// or occur elsewhere, and more if the group of the document is about the same things.
	Score float32
	// All is true if every word of the query that any document has matches this one, or every word of its name is in the query.
	All bool

	// named is true if every word of its name is in the query.
	named bool
	// same is 2 if the query is the name, and 1 if it has the words of the name and no others.
	same uint8
}

// What is added to a score to order the hits.
const (
	bonusNamed = 0.4
	bonusFirst = 0.03 // the document is in the first index
)

// leastPart is the least score of a document that does not match all words of the query, as a part of the best score.
const leastPart = 0.35

// Search returns the documents that match a query, best first. Those with exactly that name come before all others. Rare words
// count more. A word counts most in the name, then in the name of the group, the first sentence of the description, the rest of
// it, and the parameters. A synonym or a mistyped word counts less than the word itself, and so does a word after a preposition or
// in a value, such as a text in quotation marks or the name of a file. If many documents of a group match a word, all its documents
// count as related to it. A document whose whole name is in the query ranks higher. One that does something else than the query asks
// for ranks lower, and so does one of another group than the query names. Documents with equal scores keep their order: add documents
// sorted by name. The function name returns the name of a document.
//
// A query without words matches nothing. Of a long query only the words that QueryWords returns count. Several indexes are
// searched as if they were one, except that documents of the first index rank a little higher.
func Search(query string, name func(index, doc int) string, over ...*Index) []Hit {
	words, asked := want(query, over)
	var hits []Hit
	exact := strings.Join(QueryWords(query), "")
	for n, x := range over {
		hits = append(hits, x.hits(n, words, asked)...)
	}
	best := float32(0)
	for i := range hits {
		h := &hits[i]
		if h.Score >= likely { // no other can have exactly this name
			switch documentName := name(int(h.Index), int(h.Document)); {
			case documentName == query:
				h.same = 2
			case mayJoin(documentName, exact) && strings.Join(Words(documentName), "") == exact:
				h.same = 1
			}
		}
		best = max(best, h.Score)
	}
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return !h.All && h.Score < leastPart*best })
	return ordered(hits)
}

// ordered returns hits with the best first. The hits must be in the order of their numbers, which those with equal scores keep.
func ordered(hits []Hit) []Hit {
	// Thousands of hits are sorted faster as numbers: what counts more is in the higher bits.
	keys := make([]uint64, len(hits))
	for i, h := range hits {
		keys[i] = uint64(2-h.same)<<62 | uint64(^math.Float32bits(h.sortScore())&math.MaxInt32)<<31 | uint64(i)
	}
	slices.Sort(keys)
	sorted := make([]Hit, len(hits))
	for i, key := range keys {
		sorted[i] = hits[key&math.MaxInt32]
	}
	return sorted
}

// mayJoin reports whether the words of a name may be a text when they are joined: an ASCII name must have as many letters and digits.
func mayJoin(name, text string) bool {
	n := 0
	for i := range len(name) {
		switch c := name[i] | 0x20; {
		case name[i] >= utf8.RuneSelf:
			return true
		case c >= 'a' && c <= 'z' || name[i] >= '0' && name[i] <= '9':
			n++
		}
	}
	return n == len(text)
}

// likely is less than the score of any document whose name is the query.
const likely = 0.8

// sortScore returns the score by which hits are ordered.
func (h Hit) sortScore() float32 {
	score := h.Score
	if h.named {
		score += bonusNamed
	}
	if h.Index == 0 {
		score += bonusFirst
	}
	return score
}
