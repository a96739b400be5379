//go:build !race

package registry

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// With an index, new or stored, the answers are the same as without one.
func TestAnIndexChangesNoAnswer(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		h, _ := home.Open(fmt.Sprintf("%s/%d", dir, n), "")
		text, names := source(t)
		if err := h.Write([]byte(text), 0o600, fileName); err != nil {
			t.Fatal(err)
		}
		want := answers(Open(h), names)
		for i, r := range []*Registry{indexed(h, false), indexed(h, true), indexed(h, true)} {
			if d := cmp.Diff(want, answers(r, names)); d != "" {
				t.Fatalf("reader %d of %s: %s", i, text, d)
			}
			if (r.last.source == nil) != (i == 2) {
				t.Fatalf("reader %d: it is read whole: %v", i, r.last.source != nil)
			}
		}
		server := rapid.SampledFrom([]string{"s", "new"}).Draw(t, "changed")
		if _, err := indexed(h, true).ReplaceServer(t.Context(), server, []nodetype.Type{tool(server, "write_file", "Writes a file")}, false); err != nil {
			t.Fatal(err)
		}
		names = append(names, "mcp-new-write-file", "mcp-s-write_file")
		want = answers(Open(h), names)
		for i, settled := range []bool{false, true, true} {
			if d := cmp.Diff(want, answers(indexed(h, settled), names)); d != "" {
				t.Fatalf("after a change, reader %d of %s: %s", i, text, d)
			}
		}
	})
}
