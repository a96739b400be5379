package search

import (
	"math"
	"slices"
)

// reader turns a query into what is wanted.
type reader struct {
	over       []*Index
	manners    []manner // how the words of the query are written
	letters    letterSets
	vocabulary vocabulary
	list       []wanted
}

// want returns the words and phrases of a query. It leaves out stop words unless there are no others.
func want(query string, over []*Index) (list []wanted, asked act) {
	var all []string
	r := reader{over: over}
	scanQuery(query, func(whole string, parts []string, as manner) bool {
		if len(parts) == 1 || slices.ContainsFunc(over, func(x *Index) bool { _, ok := x.find(stem(whole)); return ok }) {
			parts = []string{whole}
		}
		for _, part := range parts {
			all, r.manners = append(all, part), append(r.manners, as)
		}
		return len(all) < maxWords
	})
	all = bounded(all)
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
			w.weight *= timesLight
		}
		if w.value {
			w.weight *= timesValue
		}
		if w.after && !w.grouped {
			w.weight *= timesAfter
		}
	}
	stems := make([]string, len(all))
	for i, w := range all {
		stems[i] = stem(w)
	}
	return r.list, actOfQuery(all, stems)
}

// words reads the words of a query. The longest phrases of the thesaurus that it contains count as one word each.
func (r *reader) words(all []string) {
	loud := func(w string) bool { return !isStopWord(w) && !isFiller(w) }
	silent := !slices.ContainsFunc(all, loud)
	stems := make([]string, len(all))
	for i, w := range all {
		stems[i] = stem(w)
	}
	after, read := false, 0 // read is the place of a particle that was read with its verb
	for i := 0; i < len(all); i++ {
		if i > 0 && i == read {
			continue
		}
		after = after || i > 0 && (isPreposition(all[i-1]) || i > 1 && isPreposition(all[i-2]) && isStopWord(all[i-1]))
		as := r.manners[i]
		as.after = after
		if n := r.phrase(all[i:], stems[i:], as); n > 0 {
			i += n - 1
		} else if n := particle(stems[i:]); n > 0 && r.phrase([]string{all[i], all[i+n]}, []string{stems[i], stems[i+n]}, as) > 0 {
			read = i + n
		} else if silent || loud(all[i]) {
			r.word(all[i], stems[i], as)
		}
	}
}

// phrase reads the phrase with which a list of words begins, and returns its length. It returns 0 if there is none, or no
// document has what it means.
func (r *reader) phrase(words, stems []string, as manner) int {
	key, meanings, n := phraseAt(stems)
	if n == 0 {
		return 0
	}
	w := newWanted(key, key, isPlural(words[n-1]), r.over)
	if !w.means(1, meanings, r.over) {
		return 0
	}
	var own []string
	for i, s := range stems[:n] {
		if !isStopWord(words[i]) {
			own = append(own, s)
		}
	}
	if len(own) > 0 {
		w.mean(own, 1, r.over)
	}
	w.manner = as
	r.add(w)
	return n
}

func (r *reader) word(word, stemmed string, as manner) {
	w := newWanted(word, stemmed, isPlural(word), r.over)
	w.manner = as
	meanings, known := entry(stemmed)
	switch {
	case w.literal(r.over, !known) || known:
		w.means(1, meanings, r.over)
	case as.value: // and no typing error
	default:
		if halves := split(word, r.over); halves != nil {
			for _, h := range halves {
				r.add(h)
			}
			return
		}
		w.guessed = true
		w.mistyped(r.over, r.letters.of(r.over))
		if most := min(w.edits(), 1); most > 0 {
			for _, similar := range r.vocabulary.similar(word, most) {
				meanings, _ := entry(stem(similar))
				w.means(worthGuess, meanings, r.over)
			}
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
	for _, stem := range readingStems() {
		w.mean([]string{stem}, 1, r.over)
	}
	r.list = append(r.list, w)
}

// readingStems returns the stems of the words for reading.
func readingStems() []string {
	return []string{"get", "list", "read", "show", "retriev", "describ", "search", "find", "fetch", "queri", "status", "log", "return", "explain"}
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
	scan(query, func(_ string, parts []string) bool {
		words = append(words, parts...)
		return len(words) < maxWords
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

// particle returns the place of the word with which the first of a list of stems is a phrase of the thesaurus, some words before it:
// that of "out" in "take this out". It returns 0 if there is no such word.
func particle(stems []string) int {
	for i := 2; i < min(len(stems), 6); i++ {
		switch stems[i] {
		case "out", "away", "off", "down", "up", "back", "over":
			if _, ok := entry(stems[0] + "-" + stems[i]); ok {
				return i
			}
			return 0
		}
	}
	return 0
}
