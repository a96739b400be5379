package search

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
)

// Builder builds an index. The zero value has no documents.
type Builder struct {
	nameWords, groupOf, acts []byte
	groups                   map[string]int
	terms                    map[string]*[]posting
	stems                    map[string]*[]posting // by the word before it is stemmed
}

type posting struct {
	doc    uint32
	fields uint8
}

// maxGroups is the most groups that are told apart. Further ones count as none.
const maxGroups = math.MaxUint16

// Add adds a document, which gets the next number.
func (b *Builder) Add(d Document) {
	if b.terms == nil {
		b.terms, b.stems, b.groups = map[string]*[]posting{}, map[string]*[]posting{}, map[string]int{"": 0}
	}
	doc := len(b.nameWords)
	first, rest := firstSentence(d.Description)
	names := b.text(doc, d.Name, inName, nil)
	names = b.text(doc, d.Group, inGroup, names)
	b.text(doc, first, inLead, nil)
	b.text(doc, rest, inRest, nil)
	for _, p := range d.Params {
		b.text(doc, p, inParams, nil)
	}
	b.nameWords = append(b.nameWords, byte(min(len(names), 255)))
	b.acts = append(b.acts, byte(actsOf(d.Name, first)))
	group, ok := b.groups[d.Group]
	if !ok && len(b.groups) < maxGroups {
		group = len(b.groups)
		b.groups[d.Group] = group
	}
	b.groupOf = binary.LittleEndian.AppendUint16(b.groupOf, uint16(group))
}

// text adds the words of a field. It appends the different words of a name or a group to names.
func (b *Builder) text(doc int, text string, field uint8, names []string) []string {
	scan(text, func(whole string, parts []string) bool {
		b.word(doc, whole, field)
		for _, part := range parts {
			if len(parts) > 1 {
				b.word(doc, part, field)
			}
			if field&(inName|inGroup) != 0 && part != namesake && !(len(names) > 0 && isStopWord(part)) && !slices.Contains(names, part) {
				names = append(names, part)
			}
		}
		return true
	})
	return names
}

func (b *Builder) word(doc int, w string, field uint8) {
	if field&(inName|inGroup) == 0 && isStopWord(w) {
		return
	}
	if field == inName && isPlural(w) {
		field |= inPlural
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

// firstSentence divides a description into its first sentence, or its first line if that is shorter, and the rest.
func firstSentence(text string) (first, rest string) {
	text = strings.TrimSpace(text)
	for i := range len(text) {
		last := i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n'
		if text[i] == '\n' || last && strings.IndexByte(".!?", text[i]) >= 0 {
			return text[:i], text[i+1:]
		}
	}
	return text, ""
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
			postings = binary.AppendUvarint(postings, uint64(int(p.doc)-last-1)<<placeBits|uint64(placeOf(p.fields)))
			last = int(p.doc)
		}
	}
	termAt = binary.LittleEndian.AppendUint32(termAt, uint32(terms.Len()))
	postingsAt = binary.LittleEndian.AppendUint32(postingsAt, uint32(len(postings)))

	groups := max(len(b.groups), 1)
	var out []byte
	for _, n := range []int{len(b.nameWords), groups, len(b.terms), terms.Len(), len(postings)} {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	return &Index{
		stored: slices.Concat(out, b.nameWords, b.groupOf, b.acts, termAt, postingsAt, []byte(terms.String()), postings),
		docs:   len(b.nameWords), nameWords: b.nameWords, groupOf: b.groupOf, acts: b.acts, groups: groups,
		termAt: termAt, terms: []byte(terms.String()), postingsAt: postingsAt, postings: postings,
	}
}
