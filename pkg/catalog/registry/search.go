package registry

import (
	"cmp"
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

// Search returns the types that match the words of a query, best first (see pkg/catalog/search) and then by name, and how many
// there are. It leaves out the first of them, and returns at most limit of the others, or all of these if limit is 0. It decodes only
// what it returns. An empty query matches all types, sorted by name.
func (r *Registry) Search(query string, from, limit int) (matches []Match, total int, err error) {
	allowed, err := r.rules()
	if err != nil {
		return nil, 0, err
	}
	find := bestFirst(query)
	if strings.TrimSpace(query) == "" {
		find = byName
	}
	err = r.read(func(s *snapshot) error {
		hits := slices.DeleteFunc(find(s), func(h hit) bool {
			if h.builtin {
				return !allowed.Allowed(h.name)
			}
			e := s.entries[h.entry]
			return !usable(e) || !permits(allowed, e)
		})
		total = len(hits)
		hits = hits[min(from, total):]
		if limit > 0 {
			hits = hits[:min(limit, len(hits))]
		}
		matches = make([]Match, len(hits))
		for i, h := range hits {
			matches[i].Score = h.score
			if h.builtin {
				matches[i].Type, _ = nodetype.Builtin(h.name)
			} else if matches[i].Type, err = s.typeOf(s.entries[h.entry]); err != nil {
				return err
			}
		}
		return nil
	})
	return matches, total, err
}

// hit is a type that was found and is not decoded yet.
type hit struct {
	name    string
	builtin bool
	entry   int // its number among the entries unless it is a built-in type
	score   float64
}

// bestFirst returns a function that finds the types that match a query.
func bestFirst(query string) func(*snapshot) []hit {
	var own search.Builder
	builtin := nodetype.BuiltinNames()
	for _, name := range builtin {
		t, _ := nodetype.Builtin(name)
		own.Add(document(t))
	}
	return func(s *snapshot) []hit {
		name := func(index, doc int) string {
			if index == 0 {
				return builtin[doc]
			}
			return s.entries[doc].name
		}
		found := search.Search(query, name, own.Index(), s.words())
		hits := make([]hit, len(found))
		for i, h := range found {
			hits[i] = hit{name: name(h.Index, h.Document), builtin: h.Index == 0, entry: h.Document, score: h.Score}
		}
		return hits
	}
}

// byName returns all types, sorted by name.
func byName(s *snapshot) []hit {
	hits := make([]hit, 0, len(s.entries)+len(nodetype.BuiltinNames()))
	for i, e := range s.entries {
		hits = append(hits, hit{name: e.name, entry: i})
	}
	for _, name := range nodetype.BuiltinNames() {
		hits = append(hits, hit{name: name, builtin: true})
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.name, b.name) })
	return hits
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
