package search

import "math"

// worthAt returns the worth of a word by the place where it occurs.
func worthAt(at place) float64 {
	switch at {
	case atNameAndLead, atPluralAndLead:
		return 1.1
	case atName, atPlural:
		return 1
	case atGroup:
		return 1.1
	case atLead:
		return 0.95
	case atRest:
		return 0.15
	}
	return 0.1
}

const (
	worthNumber = 0.5 // in addition, if both the word and the name have a plural
	// nameShare is the worth of a query that has all words of the name. Of two names that contain the same words of the query, the
	// shorter one matches better.
	nameShare = 0.35
	worthRead = 0.15 // of a name that says that something is read, for a question
	// coverageWorth is how much of a word counts as matched by what it is worth in the document. The rest counts if it occurs at all.
	coverageWorth = 0.4
	// relatedShare is the worth of a word in a document of a group in which all documents have it.
	relatedShare = 1.4
	// rarity is the exponent of the logarithm by which a rare word weighs more. A smaller one makes words more alike.
	rarity = 0.375
	// groupDoubt is added to the number of documents in a group: what one document of a small group matches is no evidence.
	groupDoubt = 2.4
	// worthTitle is the worth that a word of the index must exceed to count as a word of the name.
	worthTitle = 0.5
)

// rating adds up what the words of a query are worth in a document.
type rating struct {
	sum, read    float64
	words, named int
	covered      float64 // words that it matches, less if they are worth less
	exact        int     // words that occur in the name without a change

	// of is the current word, and best its worth. title is the number of words of the name that it stands for, whole is true if it
	// occurs there without a change, and seen if it occurs anywhere.
	of    int
	best  float64
	title int
	whole bool
	seen  bool
}

// hits returns the documents of one index that match some words, with their scores.
func (x *Index) hits(index int, words []wanted) []Hit {
	if len(words) == 0 || x.docs == 0 {
		return nil
	}
	rated := make([]rating, x.docs)
	members, related := make([]int, x.groups), make([]float64, x.groups)
	for doc := range x.docs {
		members[x.group(doc)]++
	}
	total, known := 0.0, 0
	for w, word := range words {
		if word.docs == 0 {
			continue
		}
		for term, worth := range word.terms[index] {
			x.each(term, func(doc int, at place) { rated[doc].see(w, worth, at, word.plural, 1) })
		}
		for _, p := range word.phrases[index] {
			x.eachOf(p.terms, func(doc int, at place) { rated[doc].see(w, p.worth, at, word.plural, len(p.terms)) })
		}
		if word.read {
			for i := range rated {
				rated[i].settleRead(w)
			}
			continue
		}
		known++
		total += word.weight
		clear(related)
		for i := range rated {
			if r := &rated[i]; r.seen && r.of == w {
				related[x.group(i)] += min(r.best, 1)
			}
		}
		related[0] = 0 // documents without a group have nothing in common
		for i := range rated {
			g := x.group(i)
			rated[i].sum += word.weight * relatedShare * related[g] / (float64(members[g]) + groupDoubt)
			rated[i].settle(w, word.weight)
		}
	}
	found := 0
	for i := range rated {
		if rated[i].words > 0 {
			found++
		}
	}
	hits := make([]Hit, 0, found)
	for doc := range rated {
		r := &rated[doc]
		if r.words == 0 {
			continue
		}
		words := r.sum / total * math.Sqrt(r.covered/float64(known))
		named := min(float64(r.named)/float64(max(int(x.nameWords[doc]), 1)), 1)
		h := Hit{Index: index, Document: doc, Score: (words + nameShare*named + worthRead*r.read) / (1 + nameShare), All: r.words == known}
		if r.exact > 0 && r.exact == int(x.nameWords[doc]) {
			h.named, h.All = true, true
		}
		hits = append(hits, h)
	}
	return hits
}

// see notes that a document has a word of the index, or a phrase of several, which has some worth for a word of the query, at a
// place.
func (r *rating) see(word int, worth float64, at place, plural bool, length int) {
	if !r.seen || r.of != word {
		r.of, r.best, r.title, r.whole, r.seen = word, 0, 0, false, true
	}
	value := worthAt(at)
	if plural && at.plural() {
		value += worthNumber
	}
	r.best = max(r.best, worth*value)
	if at >= atGroup {
		r.whole = r.whole || worth == 1
		if worth > worthTitle {
			r.title = max(r.title, length)
		}
	}
}

// settle adds the current word, if it has been seen.
func (r *rating) settle(word int, weight float64) {
	if !r.seen || r.of != word {
		return
	}
	r.sum += weight * r.best
	r.words++
	r.covered += 1 - coverageWorth + coverageWorth*min(r.best, 1)
	r.named += r.title
	if r.whole {
		r.exact++
	}
	r.seen = false
}

// settleRead adds what the words for reading are worth, if one has been seen.
func (r *rating) settleRead(word int) {
	if r.seen && r.of == word {
		r.read, r.seen = min(r.best, 1), false
	}
}
