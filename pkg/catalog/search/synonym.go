package search

import (
	_ "embed"
	"slices"
	"strings"
)

// synonyms has words for the same act or thing, one group per line. The author of a tool chooses one of them, and its user
// cannot know which.
//
//go:embed synonyms.txt
var synonyms string

// synonymsOf returns the stems of a word's synonyms.
func synonymsOf(word, stemmed string) []string {
	return meaning(stemmed, func(w string) bool { return w == word || w == stemmed || stem(w) == stemmed })
}

// meaning returns the stems of the words in each group that has a word for which asked returns true, except the stem but. A
// group "NAME: WORDS" stands for NAME only.
func meaning(but string, asked func(word string) bool) []string {
	var found []string
	for line := range strings.Lines(synonyms) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, words, named := strings.Cut(line, ":")
		if !named {
			words = line
		}
		group := strings.Fields(words)
		if !slices.ContainsFunc(group, asked) {
			continue
		}
		if named {
			group = []string{name}
		}
		for _, w := range group {
			if s := stem(w); s != but && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return found
}
