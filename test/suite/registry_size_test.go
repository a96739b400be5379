package suite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// The tools of servers whose definitions do not fit into the registry are refused, server by server, and the registry remains readable.
func TestDefinitionsThatDoNotFitIntoTheRegistry(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	p := newPlace(t)
	const servers, fit = 9, 7 // each takes some 8 MB, and 63 MB fit
	for i := range servers {
		p.must("pflow-sync", "add", fmt.Sprint("s", i), "--", filepath.Join(testPrograms, "hostilemcp"), "large", "tools/list", p.dir)
	}
	o := p.run("pflow-sync", "sync", "--all")
	refused := gjson.Get(o.stdout, `servers.#(error.type=="too_large")#.server`).Array()
	if size := len(p.read("home/registry.json")); o.exit != 1 || len(refused) != servers-fit || size > 64<<20 || size < 50<<20 || len(p.entries()) != 3*fit {
		t.Errorf("%d entries, %d bytes: %s", len(p.entries()), size, outcome{o.stdout, o.stderr[:min(len(o.stderr), 2000)], o.exit})
	}
	p.must("pflow-sync", "add", "small", "--", filepath.Join(testPrograms, "hostilemcp"), "well", "tools/list", p.dir)
	p.must("pflow-sync", "sync", "small")
	p.must("pflow-sync", "tools", "small", "t")
}
