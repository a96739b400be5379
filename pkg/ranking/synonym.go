package ranking

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
	var found []string
	for line := range strings.Lines(synonyms) {
		group := strings.Fields(line)
		if strings.HasPrefix(line, "#") || !slices.ContainsFunc(group, func(w string) bool { return w == word || w == stemmed || stem(w) == stemmed }) {
			continue
		}
		for _, w := range group {
			if s := stem(w); s != stemmed && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return found
}
