package registry

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// mixed has a type of each kind.
const mixed = `{"version":"1","nodes":{
  "gone": {"module":"pflow.programs.gone","file_path":"/bin/gone","interface":{"description":"g"}},
  "held": {"module":"pflow.programs.held","file_path":"/bin/held","interface":{"description":"h"}},
  "same": {"module":"pflow.programs.same","file_path":"/bin/same","interface":{"description":"s"}},
  "resize": {"module":"someone.else","interface":{"description":"Resize an image"}},
  "mcp-a-b": {"interface":{"mcp_metadata":{"server":"a","tool":"b"}}}}}`

func programType(name, description string) nodetype.Type {
	return nodetype.Type{Name: name, Description: description, Program: "/bin/" + name, Outputs: []nodetype.Output{{Name: "out", Type: "str"}}}
}

func TestReplacePrograms(t *testing.T) {
	r, h := open(t, map[string]string{fileName: mixed})
	change, kept, err := r.ReplacePrograms(t.Context(), []nodetype.Type{programType("same", "other"), programType("new", "n"), programType("resize", "r")}, []string{"held", "never"})
	if err != nil {
		t.Fatal(err)
	}
	want := Change{Added: []string{"new"}, Updated: []string{"same"}, Removed: []string{"gone"}, Overwritten: []string{"resize"}}
	if d := cmp.Diff(want, change) + cmp.Diff([]string{"held"}, kept); d != "" {
		t.Error(d)
	}
	after := content(t, h, fileName)
	if gjson.Get(after, "nodes.held.interface.description").Str != "h" || !gjson.Get(after, "nodes.mcp-a-b").Exists() || gjson.Get(after, "nodes.gone").Exists() {
		t.Error(after)
	}
	typ, ok, err := r.Type("new")
	if err != nil || !ok || typ.Program != "/bin/new" || typ.ExtraOutputs {
		t.Errorf("%+v %v %v", typ, ok, err)
	}
	before := content(t, h, fileName+".bak")
	change, _, err = r.ReplacePrograms(t.Context(), []nodetype.Type{programType("same", "other"), programType("new", "n"), programType("resize", "r")}, []string{"held"})
	if d := cmp.Diff(Change{}, change); d != "" || err != nil {
		t.Error(d, err)
	}
	if content(t, h, fileName+".bak") != before {
		t.Error("the registry was written though nothing changed")
	}
}
