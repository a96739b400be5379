package search

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A name that may not be a text when its words are joined is not that text.
func TestMayJoin(t *testing.T) {
	text := rapid.StringMatching(`[a-cA-C0-9_ \-éÉß@\[\\{|~]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		name, query := text.Draw(t, "name"), text.Draw(t, "query")
		for _, exact := range []string{strings.Join(QueryWords(query), ""), strings.Join(Words(name), "")} {
			if joined := strings.Join(Words(name), ""); joined == exact && !mayJoin(name, exact) {
				t.Errorf("%q joins to %q", name, joined)
			}
		}
	})
}
