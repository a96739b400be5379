package registry

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// document returns the texts by which a search finds a type.
func document(t nodetype.Type) search.Document {
	return search.Document{Name: t.Name, Description: t.Description, Params: t.ParamNames()}
}

// Nearest returns words from the names of node types that are similar to the words of a query, for a search without matches.
func (r *Registry) Nearest(query string) []string {
	names, err := r.Names()
	if err != nil {
		return nil
	}
	var words, near []string
	seen := map[string]bool{}
	for _, name := range names {
		for _, w := range search.QueryWords(name) {
			if !seen[w] && strings.Trim(w, "0123456789") != "" { // digits alone are not a typing error
				words = append(words, w)
			}
			seen[w] = true
		}
	}
	slices.Sort(words)
	asked := search.QueryWords(query)
	for _, w := range asked[:min(len(asked), maxNear)] {
		if word, ok := fault.Nearest(w, words); ok && len(w) > 2 && !slices.Contains(near, word) {
			near = append(near, word)
		}
	}
	return near
}

// maxNear limits how many words of a query Nearest looks up, because it compares each with the words of all names.
const maxNear = 8
