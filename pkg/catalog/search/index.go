// Package search finds documents by words, the best match first. It finds other forms of a word, synonyms, and mistyped words.
// A document has a name, a description and the names of parameters.
package search

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Version is the version of a stored index. It changes whenever the same documents would be stored as other bytes, or the same
// bytes would be read in another way.
const Version = 1

// Document has the texts by which a document is found.
type Document struct {
	Name        string
	Description string
	Params      []string
}

// The fields of a document in which a word occurs.
const (
	inName = 1 << iota
	inDescription
	inParams

	fieldBits = 3
)

// Index is a read-only index of documents, numbered from 0 in the order in which they were added. It works on its stored bytes,
// so that a query decodes only what it needs. It is safe for concurrent use.
type Index struct {
	stored []byte
	docs   int
	// nameWords has the number of words in the name of each document.
	nameWords []byte
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
func (x *Index) each(term int, f func(doc int, fields uint8)) {
	list, doc := x.postings[x.postingsAt.at(term):x.postingsAt.at(term+1)], -1
	for len(list) > 0 {
		v, n := binary.Uvarint(list)
		if n <= 0 {
			return
		}
		list = list[n:]
		if doc += int(v>>fieldBits) + 1; doc < 0 || doc >= x.docs {
			return
		}
		f(doc, uint8(v&(1<<fieldBits-1)))
	}
}

// Documents returns the number of documents.
func (x *Index) Documents() int { return x.docs }

// Bytes returns the index as it is stored. Parse reads it.
func (x *Index) Bytes() []byte { return x.stored }

// Builder builds an index. The zero value has no documents.
type Builder struct {
	nameWords []byte
	terms     map[string]*[]posting
	stems     map[string]*[]posting // by the word before it is stemmed
}

type posting struct {
	doc    uint32
	fields uint8
}

// Add adds a document, which gets the next number.
func (b *Builder) Add(d Document) {
	if b.terms == nil {
		b.terms, b.stems = map[string]*[]posting{}, map[string]*[]posting{}
	}
	doc, words := len(b.nameWords), 0
	scan(d.Name, func(whole string, parts []string) {
		words += len(parts)
		b.run(doc, whole, parts, inName)
	})
	scan(d.Description, func(whole string, parts []string) { b.run(doc, whole, parts, inDescription) })
	for _, p := range d.Params {
		scan(p, func(whole string, parts []string) { b.run(doc, whole, parts, inParams) })
	}
	b.nameWords = append(b.nameWords, byte(min(words, 255)))
}

func (b *Builder) run(doc int, whole string, parts []string, field uint8) {
	b.word(doc, whole, field)
	if len(parts) > 1 {
		for _, part := range parts {
			b.word(doc, part, field)
		}
	}
}

func (b *Builder) word(doc int, w string, field uint8) {
	if field != inName && isStopWord(w) {
		return
	}
	list, ok := b.stems[w]
	if !ok {
		s := stem(w)
		if list = b.terms[s]; list == nil {
			list = new([]posting)
			b.terms[s] = list
		}
		b.stems[w] = list
	}
	if n := len(*list); n > 0 && (*list)[n-1].doc == uint32(doc) {
		(*list)[n-1].fields |= field
	} else {
		*list = append(*list, posting{uint32(doc), field})
	}
}

// Index returns the index of the documents added.
func (b *Builder) Index() *Index {
	var termAt, postingsAt, postings []byte
	var terms strings.Builder
	for _, term := range slices.Sorted(maps.Keys(b.terms)) {
		termAt = binary.LittleEndian.AppendUint32(termAt, uint32(terms.Len()))
		postingsAt = binary.LittleEndian.AppendUint32(postingsAt, uint32(len(postings)))
		terms.WriteString(term)
		list, last := *b.terms[term], -1
		for _, p := range list {
			postings = binary.AppendUvarint(postings, uint64(int(p.doc)-last-1)<<fieldBits|uint64(p.fields))
			last = int(p.doc)
		}
	}
	termAt = binary.LittleEndian.AppendUint32(termAt, uint32(terms.Len()))
	postingsAt = binary.LittleEndian.AppendUint32(postingsAt, uint32(len(postings)))

	var out []byte
	for _, n := range []int{len(b.nameWords), len(b.terms), terms.Len(), len(postings)} {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	return &Index{
		stored: slices.Concat(out, b.nameWords, termAt, postingsAt, []byte(terms.String()), postings), docs: len(b.nameWords), nameWords: b.nameWords,
		termAt: termAt, terms: []byte(terms.String()), postingsAt: postingsAt, postings: postings,
	}
}

var errBroken = errors.New("not a search index")

// Parse returns the index that Bytes stored. It keeps data. It returns an error if data cannot be an index; a search of damaged
// data that it accepts does not panic.
func Parse(data []byte) (*Index, error) {
	const head = 16
	if len(data) < head {
		return nil, errBroken
	}
	var n [4]int
	for i := range n {
		n[i] = int(binary.LittleEndian.Uint32(data[4*i:]))
	}
	docs, words, terms, postings := n[0], n[1], n[2], n[3]
	if head+docs+8*(words+1)+terms+postings != len(data) {
		return nil, errBroken
	}
	rest := data[head:]
	cut := func(n int) []byte {
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	x := &Index{stored: data, docs: docs, nameWords: cut(docs)}
	x.termAt, x.postingsAt = cut(4*(words+1)), cut(4*(words+1))
	x.terms, x.postings = cut(terms), cut(postings)
	if !x.termAt.valid(words, terms) || !x.postingsAt.valid(words, postings) {
		return nil, errBroken
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
