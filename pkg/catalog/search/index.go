// Package search finds documents by words, the best match first. It finds other forms of a word, synonyms, and mistyped words.
// A document has a name, a description and parameters.
package search

import (
	"encoding/binary"
	"errors"
)

// Version is the version of a stored index. It changes whenever the same documents would be stored as other bytes, or the same
// bytes would be read in another way.
const Version = 3

// Document has the texts by which a document is found.
type Document struct {
	Name string
	// Group is the name of what the document belongs to, such as a server. It may be empty.
	Group string
	// Description says what it is for. Its first sentence counts more than the others.
	Description string
	Params      []string
}

// The fields of a document in which a word occurs.
const (
	inName   = 1 << iota
	inPlural // in the name, as a plural
	inGroup
	inLead // the first sentence of the description
	inRest // the others
	inParams
)

// place is where a word occurs in a document: the field that counts most. It is stored in place of the fields.
type place uint8

const (
	atParams place = iota
	atRest
	atLead
	atGroup
	atName
	atPlural // in the name, as a plural
	atNameAndLead
	atPluralAndLead

	placeBits = 3
)

func placeOf(fields uint8) place {
	switch {
	case fields&inName != 0:
		at := atName
		if fields&inLead != 0 {
			at = atNameAndLead
		}
		if fields&inPlural != 0 {
			at++
		}
		return at
	case fields&inGroup != 0:
		return atGroup
	case fields&inLead != 0:
		return atLead
	case fields&inRest != 0:
		return atRest
	}
	return atParams
}

// plural reports whether a word of a name is a plural.
func (p place) plural() bool { return p == atPlural || p == atPluralAndLead }

// both returns the place of two words that belong together.
func both(first, last place) place {
	if first < atName || last < atName {
		return min(first, last)
	}
	return min(first&^1, last&^1) | last&1
}

// Index is a read-only index of documents, numbered from 0 in the order in which they were added. It works on its stored bytes,
// so that a query decodes only what it needs. It is safe for concurrent use.
type Index struct {
	stored []byte
	docs   int
	// nameWords has the number of words in the name and the group of each document.
	nameWords []byte
	// groupOf has the number of the group of each document, 16 bits each. Documents without a group have 0.
	groupOf []byte
	groups  int
	// acts has the acts of each document.
	acts []byte
	// terms has the word stems, sorted and joined, and termAt the start of each and the end of the last. postings has for each
	// term the documents in which it occurs, and postingsAt the starts likewise.
	termAt, postingsAt offsets
	terms, postings    []byte
}

// offsets is a list of 32-bit numbers in ascending order.
type offsets []byte

func (o offsets) at(i int) int { return int(binary.LittleEndian.Uint32(o[4*i:])) }

func (x *Index) words() int { return len(x.termAt)/4 - 1 }

func (x *Index) term(i int) string { return string(x.terms[x.termAt.at(i):x.termAt.at(i+1)]) }

// bytes returns a term without copying it.
func (x *Index) bytes(i int) []byte { return x.terms[x.termAt.at(i):x.termAt.at(i+1)] }

// each calls f for every document in which a term occurs.
func (x *Index) each(term int, f func(doc int, at place)) {
	list, doc := x.postings[x.postingsAt.at(term):x.postingsAt.at(term+1)], -1
	for len(list) > 0 {
		v, n := binary.Uvarint(list)
		if n <= 0 {
			return
		}
		list = list[n:]
		if doc += int(v>>placeBits) + 1; doc < 0 || doc >= x.docs {
			return
		}
		f(doc, place(v&(1<<placeBits-1)))
	}
}

func (x *Index) group(doc int) int { return int(binary.LittleEndian.Uint16(x.groupOf[2*doc:])) }

// Documents returns the number of documents.
func (x *Index) Documents() int { return x.docs }

// Bytes returns the index as it is stored. Parse reads it.
func (x *Index) Bytes() []byte { return x.stored }

var errBroken = errors.New("not a search index")

// Parse returns the index that Bytes stored. It keeps data. It returns an error if data cannot be an index; a search of damaged
// data that it accepts does not panic.
func Parse(data []byte) (*Index, error) {
	const head = 20
	if len(data) < head {
		return nil, errBroken
	}
	var n [5]int
	for i := range n {
		n[i] = int(binary.LittleEndian.Uint32(data[4*i:]))
	}
	docs, groups, words, terms, postings := n[0], n[1], n[2], n[3], n[4]
	if head+4*docs+8*(words+1)+terms+postings != len(data) {
		return nil, errBroken
	}
	rest := data[head:]
	cut := func(n int) []byte {
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	x := &Index{stored: data, docs: docs, groups: groups, nameWords: cut(docs), groupOf: cut(2 * docs), acts: cut(docs)}
	x.termAt, x.postingsAt = cut(4*(words+1)), cut(4*(words+1))
	x.terms, x.postings = cut(terms), cut(postings)
	if !x.termAt.valid(words, terms) || !x.postingsAt.valid(words, postings) || groups > maxGroups {
		return nil, errBroken
	}
	for doc := range docs {
		if x.group(doc) >= groups {
			return nil, errBroken
		}
	}
	return x, nil
}

// valid reports whether the offsets ascend and the one at index last is end.
func (o offsets) valid(last, end int) bool {
	before := 0
	for i := range last + 1 {
		if o.at(i) < before {
			return false
		}
		before = o.at(i)
	}
	return before == end
}
