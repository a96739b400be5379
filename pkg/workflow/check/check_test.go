package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodes/jq"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// types has the built-in node types, an MCP tool with an input schema, and one without.
type types struct{}

func (types) Type(name string) (nodetype.Type, bool, error) {
	switch name {
	case "mcp-github-list-issues":
		return nodetype.Type{
			Name: name, ExtraOutputs: true, Actions: []string{"default", "error"}, MCP: &nodetype.MCP{Server: "github", Tool: "list_issues"},
			Params: []nodetype.Param{
				{Name: "repo", Type: "str", Required: true, Description: "owner/name"},
				{Name: "limit", Type: "int"},
			},
			Outputs: []nodetype.Output{{Name: "result", Type: "any"}, {Name: "error", Type: "str"}},
		}, true, nil
	case "mcp-github-anything":
		return nodetype.Type{Name: name, ExtraOutputs: true, MCP: &nodetype.MCP{Server: "github", Tool: "anything"}}, true, nil
	case "broken":
		return nodetype.Type{}, false, fault.New(fault.Validation, "The entry of node type %q is broken", name)
	}
	t, ok := nodetype.Builtin(name)
	return t, ok, nil
}

func (types) Types() (all []nodetype.Type, err error) {
	for _, name := range append(nodetype.BuiltinNames(), "mcp-github-anything", "mcp-github-list-issues") {
		t, _, _ := types{}.Type(name)
		all = append(all, t)
	}
	return all, nil
}

// TestGolden checks the workflows of testdata, and compares all that the check reports with the golden files beside them.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := reported(filepath.Base(path), source)
			goldenFile := strings.TrimSuffix(path, ".json") + ".golden"
			golden.Compare(t, goldenFile, got)
		})
	}
}

// library holds the workflows that others can run.
var library = map[string]string{
	"greet": `{"inputs":{"name":{"description":"whom"},"times":{"type":"integer","default":1}},
		"nodes":[{"id":"say","type":"echo","params":{"message":"hello ${name}","count":"${times}"}}],"outputs":{"greeting":{"type":"string","source":"${say.echo}"}}}`,
	"circle": `{"nodes":[{"id":"again","type":"workflow","params":{"workflow":"circle"}}]}`,
	"broken": `{"nodes":[{"id":"x","type":"echo","params":{"mesage":"${nobody}"}}]}`,
}

func load(_ *workflow.File, ref string) (*workflow.File, error) {
	source, ok := library[ref]
	if !ok {
		return nil, fault.Known(fault.NotFound, "FileNotFoundError", "There is no workflow %q, neither saved nor as a draft", ref)
	}
	return workflow.Parse(ref, []byte(source))
}

// reported returns all errors and warnings of a workflow as text.
func reported(name string, source []byte) string {
	var b strings.Builder
	f, form := workflow.Read(name, source)
	report := Read(f, form, types{}, load, jq.Check)
	for _, e := range report.Errors {
		writeFault(&b, "error", e)
	}
	for _, w := range report.Warnings {
		writeFault(&b, "warning", w)
	}
	if b.Len() == 0 {
		return "valid\n"
	}
	return b.String()
}

func writeFault(b *strings.Builder, what string, f *fault.Fault) {
	kind := ""
	if f.Type != fault.Validation {
		kind = string(f.Type) + ": "
	}
	fmt.Fprintf(b, "%s%s: %s%s\n", f.Where(), what, kind, f.Message)
	if text, ok := f.Details["text"]; ok {
		fmt.Fprintf(b, "    | %s\n    | %s\n", text, f.Details["mark"])
	}
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "    %s: %s\n", name, value)
		}
	}
	line("path", f.Path)
	line("node", f.Node)
	line("missing", strings.Join(f.Missing, ", "))
	f.Address(fault.Shell)
	for _, s := range f.Suggestions {
		line("suggestion", s)
	}
	line("available", strings.Join(f.Available, ", "))
	b.WriteByte('\n')
}

func TestWhatCannotBeReadIsAFault(t *testing.T) {
	f, err := workflow.Parse("w.json", []byte(`{"nodes":[{"id":"a","type":"broken"},{"id":"b","type":"echo","params":{"data":"${a.x}"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r := Workflow(f, types{}, nil)
	if len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Message, "is broken") {
		t.Errorf("%v", r.Errors)
	}
	if _, ok := r.Kinds["echo"]; !ok || len(r.Kinds) != 1 {
		t.Errorf("kinds %v", r.Kinds)
	}
}

func TestFaultCounts(t *testing.T) {
	r := &Report{}
	if r.Fault("w.json") != nil {
		t.Error("a fault without errors")
	}
	r.Errors = []*fault.Fault{fault.New(fault.Validation, "a"), fault.New(fault.Template, "b")}
	if f := r.Fault("w.json"); f.Type != fault.Validation || !strings.HasPrefix(f.Error(), "w.json cannot run: 2 errors\n") {
		t.Errorf("%v", f)
	}
	r.Errors = r.Errors[1:]
	if f := r.Fault("w.json"); f.Type != fault.Template || f.Message != "b" {
		t.Errorf("%v", f)
	}
}

// chain returns a workflow of n nodes, each of which reads the one before it. If faulty, each also reads a node that does
// not exist.
func chain(t *testing.T, n int, faulty bool) *workflow.File {
	t.Helper()
	var nodes, edges []string
	for i := range n {
		params := `"message": "${nobody}"`
		if !faulty {
			params = `"message": "x"`
		}
		if i > 0 {
			params += fmt.Sprintf(`, "data": "${n%d.echo}"`, i-1)
			edges = append(edges, fmt.Sprintf(`{"from": "n%d", "to": "n%d"}`, i-1, i))
		}
		nodes = append(nodes, fmt.Sprintf(`{"id": "n%d", "type": "echo", "params": {%s}}`, i, params))
	}
	f, err := workflow.Parse("w.json", fmt.Appendf(nil, "{\"nodes\": [\n%s],\n\"edges\": [\n%s]}", strings.Join(nodes, ",\n"), strings.Join(edges, ",\n")))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Five times the nodes take about five times the memory, even if each node has an error.
func TestAChainIsCheckedInLinearSpace(t *testing.T) {
	for _, faulty := range []bool{false, true} {
		var bytes [2]float64
		for i, n := range []int{400, 2000} {
			f := chain(t, n, faulty)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := Workflow(f, types{}, nil)
			runtime.ReadMemStats(&after)
			bytes[i] = float64(after.TotalAlloc - before.TotalAlloc)
			if got := len(r.Errors); got != map[bool]int{true: n, false: 0}[faulty] {
				t.Fatalf("%d errors of %d nodes: %v", got, n, errors.Join(r.Errors[0]))
			}
			for at, e := range r.Errors {
				if e.Line != at+2 {
					t.Fatalf("fault %d is said to be on line %d", at, e.Line)
				}
			}
		}
		if bytes[1] > 10*bytes[0] {
			t.Errorf("faulty %v: %.0f bytes for 400 nodes, %.0f for 2,000", faulty, bytes[0], bytes[1])
		}
	}
}

func TestTheIDsOfAllNodesHaveABound(t *testing.T) {
	for size, errors := range map[int]int{500: 0, 600: 1} {
		var nodes []string
		for i := range 1000 {
			nodes = append(nodes, fmt.Sprintf(`{"id": "n%0*d", "type": "echo"}`, size, i))
		}
		f, err := workflow.Parse("w.json", []byte(`{"nodes": [`+strings.Join(nodes, ",")+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		if r := Workflow(f, types{}, nil); len(r.Errors) != errors {
			t.Errorf("%d bytes an id: %d errors", size, len(r.Errors))
		}
	}
}
