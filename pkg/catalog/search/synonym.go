package search

import (
	_ "embed"
	"slices"
	"strings"
)

// synonyms are words for the same act or thing, a group a line. Who writes a tool picks one of them, and who looks for
// it cannot know which.
//
//go:embed synonyms.txt
var synonyms string

// alike gives the stems of the other words of a word's groups.
func alike(word, stemmed string) []string {
	return meaning(stemmed, func(w string) bool { return w == word || w == stemmed || stem(w) == stemmed })
}

// meaning gives the stems of the words in the groups of those that are asked for, but for one. A group behind a name and a
// colon stands for that name, and not for its words.
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
