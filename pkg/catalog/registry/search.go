package registry

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Match is a node type that a search found. The best match has the highest score.
type Match struct {
	Type  nodetype.Type
	Score float64
}

// Search returns the types that match the words of a query, best first (see pkg/catalog/search) and then by name. It returns
// at most limit matches, or all if limit is 0, and the number of further matches. An empty query matches all types.
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

// all returns the matches of an empty query.
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
