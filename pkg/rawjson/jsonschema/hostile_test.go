//go:build !race

package jsonschema_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestHostileValues checks deep and long values, which must not take long.
func TestHostileValues(t *testing.T) {
	t.Parallel()
	tree := func(levels int) string { return strings.Repeat(`{"of":[`, levels) + "1" + strings.Repeat(`]}`, levels) }
	const node = `{"type":"object","properties":{"of":{"items":{"$ref":"#"}}}}`
	for _, tc := range []struct{ schema, value, place string }{
		{node, tree(3), "of[0].of[0].of[0]"},
		{node, tree(240), "of[0].of[0].of[0]"},
		{node, tree(5000), ""},
		{`{"anyOf":[` + node + `,` + node + `,` + node + `]}`, tree(5), ""},
		{`{"items":{"type":"integer"}}`, "[" + strings.Repeat("1,", 100_000) + `"x"]`, "[100000]"},
	} {
		v := compiled(t, tc.schema).Check(json.RawMessage(tc.value))
		if v == nil || !strings.HasPrefix(v.Path, tc.place) || len(v.Must) > 1000 {
			t.Errorf("%s: %v", tc.schema, v)
		}
	}
}
