package search

import (
	_ "embed"
	"iter"
	"strings"
)

// compiledThesaurus has words for the same act or thing: the author of a tool chooses one of them, and its user cannot know which. It
// is thesaurus.txt as lines in the order of their keys, so that a query reads only the lines that it needs. A key is a
// stem, or the stems of a phrase joined by hyphens. After it follow its meanings: the mark of their worth, and a stem or a phrase. The
// first line, whose key is empty, has the single words as they are written.
//
// After a change of thesaurus.txt, write it again: go test ./pkg/catalog/search -run Thesaurus -update
//
//go:embed thesaurus.compiled
var compiledThesaurus string

// The marks of the worth of a meaning.
const (
	markSame    = '='
	markSynonym = '>'
	markRelated = '~'
)

// longestPhrase is the number of words of the longest phrase of the thesaurus.
const longestPhrase = 6

// meaning is a word, or the words of a phrase, that another word may mean.
type meaning struct {
	stems string // joined by hyphens
	worth float64
}

// entry returns the meanings of a key, and whether the thesaurus has it.
func entry(key string) (meanings string, ok bool) {
	low, high := 0, len(compiledThesaurus) // of lines, the beginnings of two
	for low < high {
		middle := low + (high-low)/2
		start := strings.LastIndexByte(compiledThesaurus[low:middle], '\n') + 1 + low
		end := start + strings.IndexByte(compiledThesaurus[start:], '\n')
		at, rest, _ := strings.Cut(compiledThesaurus[start:end], " ")
		switch strings.Compare(at, key) {
		case 0:
			return rest, true
		case -1:
			low = end + 1
		default:
			high = start
		}
	}
	return "", false
}

// meaningsOf calls yield for each meaning of an entry.
func meaningsOf(entry string) iter.Seq[meaning] {
	return func(yield func(meaning) bool) {
		for m := range strings.FieldsSeq(entry) {
			worth := worthSynonym
			switch m[0] {
			case markSame:
				worth = worthSame
			case markRelated:
				worth = worthRelated
			}
			if !yield(meaning{m[1:], worth}) {
				return
			}
		}
	}
}

// phraseAt returns the longest phrase of the thesaurus with which a list of stems begins: its key, its meanings and its number of
// words, which is 0 if there is no such phrase.
func phraseAt(stems []string) (key, meanings string, length int) {
	for n := min(len(stems), longestPhrase); n > 1; n-- {
		key := strings.Join(stems[:n], "-")
		if meanings, ok := entry(key); ok {
			return key, meanings, n
		}
	}
	return "", "", 0
}

// vocabulary has the single words of the thesaurus, for words that are mistyped.
type vocabulary struct {
	words   []string
	letters []uint32
}

// similar returns the words within a number of edits of a word.
func (v *vocabulary) similar(word string, most int) (found []string) {
	if v.words == nil {
		v.read()
	}
	letters := lettersOf(word)
	for i, w := range v.words {
		if n := len(w); n < 4 || n < len(word)-most || n > len(word)+most || differ(letters, v.letters[i]) > 2*most {
			continue
		}
		if distance(word, w, most) <= most {
			found = append(found, w)
		}
	}
	return found
}

func (v *vocabulary) read() {
	words, _ := entry("")
	n := strings.Count(words, " ") + 1
	v.words, v.letters = make([]string, 0, n), make([]uint32, 0, n)
	for w := range strings.SplitSeq(words, " ") {
		v.words, v.letters = append(v.words, w), append(v.letters, lettersOf(w))
	}
}
