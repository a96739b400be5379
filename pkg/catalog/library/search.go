package library

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
)

// Search returns the saved workflows and the drafts that match the words of a query, best first (see pkg/catalog/search). A
// hidden draft is not among them. An empty query matches all, sorted by name. The broken ones, which no words find, are returned
// apart, sorted by name.
func (l *Library) Search(query string) (found, broken []Listed, err error) {
	s := newSurvey(l)
	list, err := s.list(true)
	if err != nil {
		return nil, nil, err
	}
	list = slices.DeleteFunc(list, func(w Listed) bool {
		if w.Error != nil && !w.Hidden {
			broken = append(broken, w)
		}
		return w.Hidden || w.Error != nil
	})
	if strings.TrimSpace(query) == "" {
		if s.added > 0 {
			s.storeAgain(true)
		}
		return list, broken, nil
	}
	words := s.words(list)
	found = []Listed{}
	for _, hit := range search.Search(query, func(_, doc int) string { return list[doc].Name }, words) {
		found = append(found, list[hit.Document])
	}
	return found, broken, nil
}
