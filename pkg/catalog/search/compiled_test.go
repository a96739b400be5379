package search

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/golden"
)

// compile returns what compiledThesaurus has to be.
func compile(text string) string {
	entries := map[string]map[string]byte{} // the mark of each meaning of each key
	words := map[string]bool{}
	for line := range strings.Lines(text) {
		if line[0] == '#' || line[0] == '\n' {
			continue
		}
		mark := byte(markSynonym)
		from, to, directed := strings.Cut(line, ">")
		if !directed {
			if from, to, directed = strings.Cut(line, "~"); directed {
				mark = markRelated
			} else if from, to, directed = strings.Cut(line, "="); directed {
				mark = markSame
			}
		}
		if !directed {
			to = from
		}
		for word := range strings.FieldsSeq(from) {
			if !strings.Contains(word, "-") {
				words[word] = true
			}
			key := stems(word)
			if entries[key] == nil {
				entries[key] = map[string]byte{}
			}
			for word := range strings.FieldsSeq(to) {
				if m := stems(word); m != key && rank(mark) > rank(entries[key][m]) {
					entries[key][m] = mark
				}
			}
		}
	}
	var out strings.Builder
	out.WriteString(" " + strings.Join(slices.Sorted(maps.Keys(words)), " ") + "\n")
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		out.WriteString(key)
		for _, m := range slices.Sorted(maps.Keys(entries[key])) {
			out.WriteByte(' ')
			out.WriteByte(entries[key][m])
			out.WriteString(m)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// stems returns the stems of a word or of a phrase joined by hyphens.
func stems(phrase string) string {
	words := strings.Split(phrase, "-")
	for i, w := range words {
		words[i] = stem(w)
	}
	return strings.Join(words, "-")
}

// The compiled thesaurus is that of thesaurus.txt, and each line of it is found.
func TestTheCompiledThesaurus(t *testing.T) {
	source, err := os.ReadFile("thesaurus.txt")
	if err != nil {
		t.Fatal(err)
	}
	text := compile(string(source))
	golden.Compare(t, "thesaurus.compiled", text)
	for line := range strings.Lines(text) {
		key, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if got, ok := entry(key); !ok || got != want {
			t.Fatalf("%s: %q, want %q", key, got, want)
		}
		if n := strings.Count(key, "-") + 1; n > longestPhrase {
			t.Errorf("%s has %d words", key, n)
		}
	}
	for _, key := range []string{"a", "zzzz", "creat-", "Creat"} {
		if got, ok := entry(key); ok {
			t.Errorf("%q: %q", key, got)
		}
	}
}

// The stems that a question looks for are stems.
func TestReadingStems(t *testing.T) {
	for _, s := range readingStems() {
		if stem(s) != s && stem(s+"e") != s && stem(strings.TrimSuffix(s, "i")+"y") != s {
			t.Errorf("%q is no stem", s)
		}
	}
}

// rank returns a greater number for a mark that is worth more.
func rank(mark byte) int {
	return strings.IndexByte(string([]byte{markRelated, markSynonym, markSame}), mark)
}
