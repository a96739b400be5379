package suite

import (
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"
)

// Two syncs and three runs at once lose nothing: every tool is registered, and every run succeeds.
func TestMCPSyncsAndRunsTogether(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const servers = 6
	for i := range servers {
		p.spoken(fmt.Sprint("s", i), "well", "get", "put", "list items")
	}
	p.must("pflow-sync", "sync", "s0")
	p.write("w.json", `{"nodes":[{"id":"a","type":"mcp-s0-get","params":{"title":"x"}},{"id":"b","type":"mcp-s0-put","params":{"title":"y"}}],"edges":[{"from":"a","to":"b"}]}`)
	var together errgroup.Group
	for _, args := range [][]string{
		{"pflow-sync", "sync", "--all"}, {"pflow-sync", "sync", "--all"},
		{"pflow-exec", "run", "w.json"}, {"pflow-exec", "run", "w.json"}, {"pflow-exec", "run", "w.json"},
	} {
		together.Go(func() error {
			if o := p.run(args[0], args[1:]...); o.exit != 0 {
				return fmt.Errorf("%q: %s", args, o)
			}
			return nil
		})
	}
	if err := together.Wait(); err != nil {
		t.Error(err)
	}
	entries := p.entries()
	for i := range servers {
		for _, tool := range []string{"get", "put", "list-items"} {
			if name := fmt.Sprintf("mcp-s%d-%s", i, tool); !entries[name].Exists() {
				t.Errorf("%s is lost", name)
			}
		}
	}
	if len(entries) != 3*servers {
		t.Errorf("%d entries", len(entries))
	}
}
