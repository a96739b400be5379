package search

import (
	_ "embed"
	"slices"
	"strings"
)

// thesaurusText has words for the same act or thing, one group per line. The author of a tool chooses one of them, and its user
// cannot know which. Its first lines explain its form.
//
//go:embed thesaurus.txt
var thesaurusText string

// thesaurus is the parsed table.
type thesaurus struct {
	groups []group
	// byStart has the entries by the first byte of their first word.
	byStart [256][]entry
}

// group is a line of the table: each word of from means each of to, or all mean each other if to is empty.
type group struct {
	from, to string
	worth    float64
}

// entry is a word or a phrase by which its group is found.
type entry struct {
	text  string // words joined by hyphens
	group int
}

// parseThesaurus reads the table.
func parseThesaurus(text string) *thesaurus {
	t := &thesaurus{groups: make([]group, 0, 1024)}
	var counts [256]int
	all := 0
	for line := range strings.Lines(text) {
		if line[0] == '#' || line[0] == '\n' {
			continue
		}
		g := group{worth: worthSynonym}
		var directed bool
		if g.from, g.to, directed = strings.Cut(line, ">"); !directed {
			if g.from, g.to, directed = strings.Cut(line, "~"); directed {
				g.worth = worthRelated
			}
		}
		for text := range strings.FieldsSeq(g.from) {
			counts[text[0]]++
			all++
		}
		t.groups = append(t.groups, g)
	}
	entries := make([]entry, all) // one allocation for all
	for i, n := range counts {
		t.byStart[i], entries = entries[:0:n], entries[n:]
	}
	for i, g := range t.groups {
		for text := range strings.FieldsSeq(g.from) {
			t.byStart[text[0]] = append(t.byStart[text[0]], entry{text, i})
		}
	}
	return t
}

// meaning is a word, or the words of a phrase, that another word may mean.
type meaning struct {
	stems []string
	worth float64
}

// meanings returns what the word or the phrase of an entry means according to all groups that have it.
func (t *thesaurus) meanings(entries []entry) (list []meaning) {
	for _, e := range entries {
		g := t.groups[e.group]
		to := g.to
		if to == "" {
			to = g.from
		}
		for text := range strings.FieldsSeq(to) {
			if text == e.text {
				continue
			}
			m := meaning{worth: g.worth}
			for w := range strings.SplitSeq(text, "-") {
				m.stems = append(m.stems, stem(w))
			}
			list = append(list, m)
		}
	}
	return list
}

// find returns the entries that are the word, in any form.
func (t *thesaurus) find(word, stemmed string) (found []entry) {
	for _, e := range t.byStart[word[0]] {
		if e.text == word || sameStart(e.text, stemmed) && strings.IndexByte(e.text, '-') < 0 && stem(e.text) == stemmed {
			found = append(found, e)
		}
	}
	return found
}

// sameStart reports whether two words may have the same stem.
func sameStart(word, stemmed string) bool {
	return len(word) >= 2 && len(stemmed) >= 2 && word[1] == stemmed[1]
}

// phrase returns the entries that are the longest phrase with which a list of words begins, and its number of words.
func (t *thesaurus) phrase(words, stems []string) (found []entry, length int) {
	for _, e := range t.byStart[words[0][0]] {
		n := strings.Count(e.text, "-") + 1
		if n < 2 || n > len(words) || n < length || !startsWith(e.text, words, stems) {
			continue
		}
		if n > length {
			found, length = nil, n
		}
		found = append(found, e)
	}
	return found, length
}

func startsWith(phrase string, words, stems []string) bool {
	i := 0
	for w := range strings.SplitSeq(phrase, "-") {
		if w != words[i] && (!sameStart(w, stems[i]) || stem(w) != stems[i]) {
			return false
		}
		i++
	}
	return true
}

// similar returns the entries that are single words within a number of edits of a word.
func (t *thesaurus) similar(word string, most int) (found []entry) {
	letters := lettersOf(word)
	for i := range t.byStart {
		for _, e := range t.byStart[i] {
			if n := len(e.text); n < 4 || n < len(word)-most || n > len(word)+most || differ(letters, lettersOf(e.text)) > 2*most {
				continue
			}
			if strings.IndexByte(e.text, '-') < 0 && distance(word, e.text, most) <= most && !slices.Contains(found, e) {
				found = append(found, e)
			}
		}
	}
	return found
}
