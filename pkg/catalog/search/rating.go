package search

import (
	"maps"
	"math"
	"slices"
)

// worthAt returns the worth of a word by the place where it occurs.
func worthAt(at place) float64 {
	switch at {
	case atNameAndLead, atPluralAndLead:
		return 1.3
	case atName, atPlural:
		return 1.1
	case atGroup:
		return 1.05
	case atLead:
		return 1
	case atRest:
		return 0.15
	}
	return 0.1
}

const (
	worthNumber = 1 // in addition, if both the word and the name have a plural
	// nameShare is the worth of a query that has all words of the name. Of two names that contain the same words of the query, the
	// shorter one matches better.
	nameShare = 0.375
	worthRead = 0.12 // of a name that says that something is read, for a question
	// coverageWorth is how much of a word counts as matched by what it is worth in the document. The rest counts if it occurs at all.
	coverageWorth = 0.45
	// relatedShare is the worth of a word in a document of a group in which all documents have it.
	relatedShare = 1.4
	// rarity is the exponent of the logarithm by which a rare word weighs more. A smaller one makes words more alike.
	rarity = 0.35
	// groupDoubt is added to the number of documents in a group: what one document of a small group matches is no evidence.
	groupDoubt = 1.6
	// worthTitle is the worth that a word of the index must exceed to count as a word of the name.
	worthTitle = 0.55
	// timesAct multiplies the score of a document that does what the query asks for, and timesOtherAct that of one that does
	// something else.
	timesAct      = 1.05
	timesOtherAct = 0.84
	// timesOtherGroup multiplies the score of a document that does not have the name of a group for which the query asks.
	timesOtherGroup = 0.85
	// moreShare is the share of what the other meanings of a word are worth where one occurs and the word itself is not in the name, and
	// mostMore the most that they are worth together. The meanings of "mkdir" are "create" and "directory".
	moreShare = 0.5
	mostMore  = 1
)

// rating adds up what the words of a query are worth in a document. There is one for each document, so it is small.
type rating struct {
	sum, covered float32 // covered counts the words that it matches, less if they are worth less
	// best is the worth of the current word, more that of its other meanings, and title the number of words of the name that it stands
	// for. whole is true if it occurs there without a change, and seen if it occurs anywhere.
	best, more   float32
	title        uint8
	whole, seen  bool
	group        bool // it has a word that is the name of a group
	words, named uint8
	exact        uint8 // words that occur in the name without a change
	read         float32
}

// rater rates the documents of one index.
type rater struct {
	index   *Index
	ratings []rating
	seen    []int32 // the documents that have the current word
	// members has the number of documents of each group, related what they are worth together for the current word, and shares what
	// each of them gets for it.
	members         []int32
	related, shares []float32
}

func (x *Index) rater() *rater {
	r := &rater{
		index: x, ratings: make([]rating, x.docs),
		members: make([]int32, x.groups), related: make([]float32, x.groups), shares: make([]float32, x.groups),
	}
	for doc := range x.docs {
		r.members[x.group(doc)]++
	}
	return r
}

// hits returns the documents of one index that match some words, with their scores.
func (x *Index) hits(index int, words []wanted, asked act) []Hit {
	if len(words) == 0 || x.docs == 0 {
		return nil
	}
	r, total, known := x.rater(), 0.0, 0
	for _, word := range words {
		if word.docs == 0 {
			continue
		}
		terms := word.terms[index]
		for _, term := range slices.Sorted(maps.Keys(terms)) { // in an order, because sums of floats depend on it
			x.each(term, func(doc int, at place) { r.see(doc, terms[term], at, &word, 1) })
		}
		for _, p := range word.phrases[index] {
			x.eachOf(p.terms, func(doc int, at place) { r.see(doc, p.worth, at, &word, len(p.terms)) })
		}
		if word.read {
			r.settleRead()
			continue
		}
		known++
		total += word.weight
		r.settle(float32(word.weight))
	}
	grouped := slices.ContainsFunc(words, func(w wanted) bool { return w.grouped })
	hits := make([]Hit, 0, r.found())
	for doc := range r.ratings {
		d := &r.ratings[doc]
		if d.words == 0 {
			continue
		}
		sum := float64(d.sum + r.shares[x.group(doc)])
		matched := sum / total * math.Sqrt(float64(d.covered)/float64(known))
		named := min(float64(d.named)/float64(max(x.nameWords[doc], 1)), 1)
		score := (matched + nameShare*named + worthRead*float64(d.read)) / (1 + nameShare)
		switch does := act(x.acts[doc]); {
		case asked&does != 0:
			score *= timesAct
		case asked != 0 && does != 0:
			score *= timesOtherAct
		}
		if grouped && !d.group {
			score *= timesOtherGroup
		}
		h := Hit{Index: int32(index), Document: int32(doc), Score: float32(score), All: int(d.words) == known}
		if d.exact > 0 && d.exact == x.nameWords[doc] {
			h.named, h.All = true, true
		}
		hits = append(hits, h)
	}
	return hits
}

// found returns the number of documents that have a word.
func (r *rater) found() (n int) {
	for i := range r.ratings {
		if r.ratings[i].words > 0 {
			n++
		}
	}
	return n
}

// see notes that a document has a word of the index, or a phrase of several, which has some worth for the current word of the
// query, at a place.
func (r *rater) see(doc int, worth float64, at place, word *wanted, length int) {
	d := &r.ratings[doc]
	if !d.seen {
		d.best, d.more, d.title, d.whole, d.seen = 0, 0, 0, false, true
		r.seen = append(r.seen, int32(doc))
	}
	value := worthAt(at)
	if word.plural && at.plural() {
		value += worthNumber
	}
	got := float32(worth * value)
	if !word.guessed {
		d.more += min(d.best, got)
	}
	d.best = max(d.best, got)
	if at >= atGroup {
		d.group = d.group || word.grouped && worth == 1
		d.whole = d.whole || worth == 1
		if worth > worthTitle {
			d.title = max(d.title, uint8(min(length, maxWords)))
		}
	}
}

// settle adds the current word to the documents that have it, and what their groups share of it.
func (r *rater) settle(weight float32) {
	clear(r.related)
	for _, doc := range r.seen {
		d := &r.ratings[doc]
		if !d.whole {
			d.best += moreShare * min(d.more, mostMore)
		}
		r.related[r.index.group(int(doc))] += min(d.best, 1)
		d.sum += weight * d.best
		d.words++
		d.covered += 1 - coverageWorth + coverageWorth*min(d.best, 1)
		d.named = min(d.named+d.title, math.MaxUint8/2)
		if d.whole {
			d.exact++
		}
		d.seen = false
	}
	r.seen = r.seen[:0]
	for g := 1; g < len(r.related); g++ { // documents without a group, which have 0, have nothing in common
		r.shares[g] += weight * relatedShare * r.related[g] / (float32(r.members[g]) + groupDoubt)
	}
}

// settleRead adds what the words for reading are worth, if one has been seen.
func (r *rater) settleRead() {
	for _, doc := range r.seen {
		d := &r.ratings[doc]
		d.read, d.seen = min(d.best, 1), false
	}
	r.seen = r.seen[:0]
}
