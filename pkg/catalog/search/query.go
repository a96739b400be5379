package search

import (
	"math"
	"slices"
)

// reader turns a query into what is wanted.
type reader struct {
	over      []*Index
	thesaurus *thesaurus
	letters   letterSets
	list      []wanted
}

// want returns the words and phrases of a query. It leaves out stop words unless there are no others.
func want(query string, over []*Index) []wanted {
	var all []string
	scan(query, func(whole string, parts []string) {
		if len(all) >= maxWords {
			return
		}
		if len(parts) > 1 && !slices.ContainsFunc(over, func(x *Index) bool { _, ok := x.find(stem(whole)); return ok }) {
			all = append(all, parts...)
		} else {
			all = append(all, whole)
		}
	})
	all = bounded(all)
	r := reader{over: over, thesaurus: parseThesaurus(thesaurusText)}
	r.words(all)
	if len(all) > 1 && asks(all[0]) {
		r.question()
	}
	r.dropOthers()
	total := 0
	for _, x := range over {
		total += x.docs
	}
	for i := range r.list {
		w := &r.list[i]
		w.count(over)
		w.weight = math.Pow(math.Log(1+float64(total)/float64(max(w.docs, 1))), rarity)
		if isLight(w.word) {
			w.weight *= worthLight
		}
	}
	return r.list
}

// words reads the words of a query. The longest phrases of the thesaurus that it contains count as one word each.
func (r *reader) words(all []string) {
	loud := func(w string) bool { return !isStopWord(w) && !isFiller(w) }
	silent := !slices.ContainsFunc(all, loud)
	stems := make([]string, len(all))
	for i, w := range all {
		stems[i] = stem(w)
	}
	for i := 0; i < len(all); i++ {
		if n := r.phrase(all[i:], stems[i:]); n > 0 {
			i += n - 1
		} else if silent || loud(all[i]) {
			r.word(all[i], stems[i])
		}
	}
}

// phrase reads the phrase with which a list of words begins, and returns its length. It returns 0 if there is none, or no
// document has what it means.
func (r *reader) phrase(words, stems []string) int {
	entries, n := r.thesaurus.phrase(words, stems)
	if n == 0 {
		return 0
	}
	w := newWanted(entries[0].text, entries[0].text, isPlural(words[n-1]), r.over)
	if !w.means(1, r.thesaurus.meanings(entries), r.over) {
		return 0
	}
	own := meaning{worth: 1}
	for i, s := range stems[:n] {
		if !isStopWord(words[i]) {
			own.stems = append(own.stems, s)
		}
	}
	if len(own.stems) > 0 {
		w.means(1, []meaning{own}, r.over)
	}
	r.add(w)
	return n
}

func (r *reader) word(word, stemmed string) {
	w := newWanted(word, stemmed, isPlural(word), r.over)
	entries := r.thesaurus.find(word, stemmed)
	switch {
	case w.literal(r.over, len(entries) == 0) || len(entries) > 0:
		w.means(1, r.thesaurus.meanings(entries), r.over)
	default:
		if halves := split(word, r.over); halves != nil {
			for _, h := range halves {
				r.add(h)
			}
			return
		}
		w.mistyped(r.over, r.letters.of(r.over))
		if most := min(w.edits(), 1); most > 0 {
			w.means(worthGuess, r.thesaurus.meanings(r.thesaurus.similar(word, most)), r.over)
		}
	}
	r.add(w)
}

func (r *reader) add(w wanted) {
	if !slices.ContainsFunc(r.list, func(o wanted) bool { return o.stem == w.stem }) {
		r.list = append(r.list, w)
	}
}

// asks reports whether a query that begins with a word is a question.
func asks(word string) bool {
	switch word {
	case "what", "which", "who", "whose", "where", "when", "why", "how", "is", "are", "was", "were", "does", "do", "did", "has", "have", "whats":
		return true
	}
	return false
}

// question adds what the names of tools that read something have in common, because a question asks for no change.
func (r *reader) question() {
	w := newWanted("", "", false, r.over)
	w.read = true
	var reads []meaning
	for _, word := range []string{"get", "list", "read", "show", "retrieve", "describe", "search", "find", "fetch", "query", "status", "log", "return", "explain"} {
		reads = append(reads, meaning{[]string{stem(word)}, 1})
	}
	w.means(1, reads, r.over)
	r.list = append(r.list, w)
}

// dropOthers drops the meanings of a word that are other words of the query: "http" may mean a request, but not in "http request".
func (r *reader) dropOthers() {
	for i := range r.list {
		w := &r.list[i]
		if w.read {
			continue
		}
		for n, x := range r.over {
			for j := range r.list {
				if t, ok := x.find(r.list[j].stem); ok && i != j && w.terms[n][t] < 1 {
					delete(w.terms[n], t)
				}
			}
		}
	}
}

// maxWords is the number of words of a query that count.
const maxWords = 32

// QueryWords returns the words of a query that count: the first 32, and 64 bytes of each.
func QueryWords(query string) []string {
	var words []string
	scan(query, func(_ string, parts []string) {
		if len(words) < maxWords {
			words = append(words, parts...)
		}
	})
	return bounded(words)
}

func bounded(words []string) []string {
	words = words[:min(len(words), maxWords)]
	for i, w := range words {
		words[i] = shortened(w)
	}
	return words
}
