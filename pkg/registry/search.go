package registry

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Match is a node type that a search found. The best has the highest score.
type Match struct {
	Type  nodetype.Type
	Score int
}

// What a word of a query is worth by where it stands.
const (
	scoreExact       = 100
	scorePrefix      = 90
	scoreName        = 70
	scoreDescription = 50
	scoreParam       = 40
	scoreTypo        = 20
)

// Search finds the types in whose name, description or parameters' names every word of the query stands, best first,
// equals by name. A word of the name may be mistyped a little. An empty query finds all.
func (r *Registry) Search(query string) ([]Match, error) {
	types, err := r.Types()
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(query))
	matches := []Match{}
	for _, t := range types {
		if score, ok := rate(t, words); ok {
			matches = append(matches, Match{t, score})
		}
	}
	slices.SortStableFunc(matches, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	return matches, nil
}

// rate is the mean of what the words are worth, or false when one of them is nowhere.
func rate(t nodetype.Type, words []string) (int, bool) {
	if len(words) == 0 {
		return 0, true
	}
	name, description := strings.ToLower(t.Name), strings.ToLower(t.Description)
	total := 0
	for _, w := range words {
		switch {
		case name == w:
			total += scoreExact
		case strings.HasPrefix(name, w):
			total += scorePrefix
		case strings.Contains(name, w):
			total += scoreName
		case strings.Contains(description, w):
			total += scoreDescription
		case slices.ContainsFunc(t.Params, func(p nodetype.Param) bool { return strings.Contains(strings.ToLower(p.Name), w) }):
			total += scoreParam
		case mistyped(w, name):
			total += scoreTypo
		default:
			return 0, false
		}
	}
	return total / len(words), true
}

// mistyped says whether a word is nearly one of the name's. Short words are too near to each other to tell.
func mistyped(word, name string) bool {
	if utf8.RuneCountInString(word) < 4 {
		return false
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_. /", r) })
	_, ok := fault.Nearest(word, append(parts, name))
	return ok
}
