package registry

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// vocabulary collects the words of names. The zero value has none.
type vocabulary struct {
	seen  map[string]bool
	words []string
}

// add adds the words of a name, except numbers, which are no typing errors of each other.
func (v *vocabulary) add(name string) {
	if v.seen == nil {
		v.seen = map[string]bool{}
	}
	for _, w := range search.QueryWords(name) {
		if !v.seen[w] && strings.Trim(w, "0123456789") != "" {
			v.words = append(v.words, w)
		}
		v.seen[w] = true
	}
}

// sorted returns the words that were added, each once.
func (v *vocabulary) sorted() []string {
	slices.Sort(v.words)
	return v.words
}

// Nearest returns words from the names of node types that are similar to the words of a query, for a search without matches.
func (r *Registry) Nearest(query string) (near []string) {
	words := r.vocabulary()
	asked := search.QueryWords(query)
	for _, w := range asked[:min(len(asked), maxNear)] {
		alike := search.Alike(w, words, max(1, len(w)/3)) // at most these edits make a word the nearest
		if word, ok := fault.Nearest(w, alike); ok && len(w) > 2 && !slices.Contains(near, word) {
			near = append(near, word)
		}
	}
	return near
}

// maxNear limits how many words of a query Nearest looks up, because it compares each with the words of all names.
const maxNear = 8

// vocabulary returns the words of the names of all node types that the settings allow. It returns nil if they cannot be read.
func (r *Registry) vocabulary() []string {
	var v vocabulary
	allowed, err := r.rules()
	if err != nil {
		return nil
	}
	if allowed.Allow != nil || len(allowed.Deny) > 0 {
		names, err := r.Names()
		if err != nil {
			return nil
		}
		for _, name := range names {
			v.add(name)
		}
		return v.sorted()
	}
	for _, name := range nodetype.BuiltinNames() {
		v.add(name)
	}
	var words []string
	err = r.read(func(s *snapshot) error {
		words = slices.Concat(v.words, s.vocabulary())
		return nil
	})
	if err != nil {
		return nil
	}
	slices.Sort(words)
	return slices.Compact(words)
}
