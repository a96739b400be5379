package docs

import (
	"slices"
	"strings"
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

// TestLLMProviders: the page of the contracts has a table of the providers of language models.
func TestLLMProviders(t *testing.T) {
	lines := []string{"| provider | API | address, unless the variable names another | key |", "| --- | --- | --- | --- |"}
	for _, s := range nodetype.LLMServices() {
		key := "none"
		if s.KeyVar != "" {
			key = "`" + s.KeyVar + "`"
		}
		lines = append(lines, row("`"+s.Name+"/`", s.API, "`"+s.Base+"`, `"+s.URLVar+"`", key))
	}
	compareTables(t, "contracts.md", map[string][]string{"## pflow-node-llm": lines})
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
		name := showing(all, kind.Name, p.Name)
		if name == "" {
			t.Errorf("no case in test/cases has a %s node with the parameter %q", kind.Name, p.Name)
			continue
		}
		lines = append(lines, row("`"+p.Name+"`", "parameter", typ, p.Description, "["+name+"](../test/cases/"+name+".json)"))
	}
	for _, o := range kind.Outputs {
		lines = append(lines, row("`"+o.Name+"`", "output", o.Type, o.Description, ""))
	}
	return lines
}

// showing names the case that shows a parameter best: one of the node type, that is called after the parameter, and that
// succeeds, each before the next.
func showing(all []cases.Case, kind, param string) string {
	best, most := "", 0
	for _, c := range all {
		if !slices.Contains(c.Parameters(kind), param) {
			continue
		}
		worth := 10
		if rest, ok := strings.CutPrefix(c.Name, kind+"-"); ok {
			worth += 80
			words := strings.Split(rest, "-")
			worth -= len(words)
			for word := range strings.SplitSeq(param, "_") {
				if slices.Contains(words, word) {
					worth += 21
				}
			}
		}
		if slices.Contains(c.Expect.Exit, 0) {
			worth += 10
		}
		if worth > most {
			best, most = c.Name, worth
		}
	}
	return best
}
