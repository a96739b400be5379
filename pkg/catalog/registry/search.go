package registry

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Match is a node type that a search found. The best has the highest score.
type Match struct {
	Type  nodetype.Type
	Score float64
}

// Search finds the types that fit the words of a query, best first, as pkg/catalog/search has it; equals by name. It gives at
// most limit of them, all when it is 0, and how many more there are. An empty query finds all types, by name.
func (r *Registry) Search(query string, limit int) (matches []Match, more int, err error) {
	if strings.TrimSpace(query) == "" {
		return r.all(limit)
	}
	allowed, err := r.rules()
	if err != nil {
		return nil, 0, err
	}
	var own search.Builder
	builtin := nodetype.BuiltinNames()
	for _, name := range builtin {
		t, _ := nodetype.Builtin(name)
		own.Add(document(t))
	}
	err = r.read(func(s *snapshot) error {
		hits := search.Search(query, func(index, doc int) string {
			if index == 0 {
				return builtin[doc]
			}
			return s.entries[doc].name
		}, own.Index(), s.words())
		hits = slices.DeleteFunc(hits, func(h search.Hit) bool {
			if h.Index == 0 {
				return !allowed.Allowed(builtin[h.Document])
			}
			e := s.entries[h.Document]
			return !usable(e) || !permits(allowed, e)
		})
		matches, more = []Match{}, 0
		if limit > 0 && len(hits) > limit {
			hits, more = hits[:limit], len(hits)-limit
		}
		for _, h := range hits {
			m := Match{Score: h.Score}
			if h.Index == 0 {
				m.Type, _ = nodetype.Builtin(builtin[h.Document])
			} else if m.Type, err = s.typeOf(s.entries[h.Document]); err != nil {
				return err
			}
			matches = append(matches, m)
		}
		return nil
	})
	return matches, more, err
}

// all is the search for nothing.
func (r *Registry) all(limit int) ([]Match, int, error) {
	types, err := r.Types()
	if err != nil {
		return nil, 0, err
	}
	more := 0
	if limit > 0 && len(types) > limit {
		types, more = types[:limit], len(types)-limit
	}
	matches := make([]Match, len(types))
	for i, t := range types {
		matches[i].Type = t
	}
	return matches, more, nil
}

// document is what a type is found by.
func document(t nodetype.Type) search.Document {
	return search.Document{Name: t.Name, Description: t.Description, Params: t.ParamNames()}
}

// Nearest gives words of the names of node types that are near those of a query, for a search that found nothing.
func (r *Registry) Nearest(query string) []string {
	names, err := r.Names()
	if err != nil {
		return nil
	}
	var words, near []string
	seen := map[string]bool{}
	for _, name := range names {
		for _, w := range search.QueryWords(name) {
			if !seen[w] && strings.Trim(w, "0123456789") != "" { // a number is nobody's typing error
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

// maxNear is for how many words of a query near ones are looked for: each is held against all words of all names.
const maxNear = 8
