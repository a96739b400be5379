package docs

import (
	"slices"
	"testing"

	"github.com/pflow-suite/pflow/internal/cases"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// nodes is the page of the node types.
const nodes = "nodes.md"

// TestNodes: the page has a table of all built-in node types, and of each one's parameters and outputs, and they say what
// the programs know. Every parameter stands in a case, which runs.
func TestNodes(t *testing.T) {
	all, err := cases.Read("../test/cases")
	if err != nil {
		t.Fatal(err)
	}
	overview := []string{"| type | what it does |", "| --- | --- |"}
	tables := map[string][]string{}
	for _, name := range nodetype.BuiltinNames() {
		kind, _ := nodetype.Builtin(name)
		overview = append(overview, row("["+name+"](#"+name+")", kind.Description))
		tables["### "+name] = typeTable(t, &kind, all)
	}
	tables["## All types"] = overview
	compareTables(t, nodes, tables)
}

// typeTable has what a node type takes and gives, and for each parameter a case that shows it.
func typeTable(t *testing.T, kind *nodetype.Type, all []cases.Case) []string {
	t.Helper()
	lines := []string{"| name | is | type | meaning | case |", "| --- | --- | --- | --- | --- |"}
	for _, p := range kind.Params {
		typ := p.Type
		switch {
		case p.Required:
			typ += ", required"
		case p.Default != nil:
			typ += ", by default `" + string(p.Default) + "`"
		}
		shown := slices.IndexFunc(all, func(c cases.Case) bool { return slices.Contains(c.Parameters(kind.Name), p.Name) })
		if shown < 0 {
			t.Errorf("no case in test/cases has a %s node with the parameter %q", kind.Name, p.Name)
			continue
		}
		name := all[shown].Name
		lines = append(lines, row("`"+p.Name+"`", "parameter", typ, p.Description, "["+name+"](../test/cases/"+name+".json)"))
	}
	for _, o := range kind.Outputs {
		lines = append(lines, row("`"+o.Name+"`", "output", o.Type, o.Description, ""))
	}
	return lines
}
