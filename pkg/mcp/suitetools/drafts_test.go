package suitetools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/toolargs"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// draftTool calls a tool for drafts, as the server does: after the check of its arguments.
func (f *fakes) draftTool(name, arguments string) *mcpserver.Result {
	f.Helper()
	for _, tool := range f.front().drafts() {
		if tool.Name != name {
			continue
		}
		checked, bad := toolargs.NewChecker(name, tool.InputSchema).Check(json.RawMessage(arguments))
		if bad != nil {
			f.Fatalf("%s %s: %v", name, arguments, bad)
		}
		r := tool.Call(f.Context(), &mcpserver.Call{Tool: name, Arguments: checked})
		schema, bad := jsonschema.Compile(tool.OutputSchema)
		if bad != nil {
			f.Fatal(bad)
		}
		if v := schema.Check(r.Structured); v != nil {
			f.Errorf("%s answers what its output schema does not allow: %v", name, v)
		}
		return r
	}
	f.Fatalf("there is no tool %s", name)
	return nil
}

func TestDraftToolsAreCommands(t *testing.T) {
	for _, c := range []struct{ tool, arguments, want, stdin string }{
		{"write_draft", `{"name":"--help","content":"# T\n"}`, "write --format json --max-bytes=8192 -- --help", "# T\n"},
		{"write_draft", `{"name":"d","content":{"b":1.10,"a":[9007199254740993]}}`, "write --format json --max-bytes=8192 -- d", "{\n  \"b\": 1.10,\n  \"a\": [\n    9007199254740993\n  ]\n}\n"},
		{"write_draft", `{"name":"d","content":""}`, "write --format json --max-bytes=8192 -- d", ""},
		{"read_draft", `{"name":"d"}`, "read --format json --max-bytes=8192 --cursor= -- d", "none"},
		{"read_draft", `{"name":"d","cursor":"-x","limit":0}`, "read --format json --max-bytes=0 --cursor=-x -- d", "none"},
		{"read_draft", `{"name":"d","limit":1}`, "read --format json --max-bytes=1024 --cursor= -- d", "none"},
		{"read_draft", `{"name":"d","limit":1025}`, "read --format json --max-bytes=1025 --cursor= -- d", "none"},
		{"read_draft", `{"name":"d","cursor":null,"limit":null}`, "read --format json --max-bytes=8192 --cursor= -- d", "none"},
		{"check_draft", `{"name":"d"}`, "check --format json --max-bytes=8192 -- d", "none"},
		{"delete_draft", `{"name":"-"}`, "delete --format json -- -", "none"},
		{"delete_draft", `{"name":"d","form":"markdown"}`, "delete --format json --form=markdown -- d", "none"},
		{"read_draft", `{"name":"d","form":"json"}`, "read --format json --form=json --max-bytes=8192 --cursor= -- d", "none"},
	} {
		t.Run(c.tool+" "+c.arguments, func(t *testing.T) {
			f := newFakes(t)
			f.Program("pflow-lib", `if [ "$3" = write ]; then cat; else printf none; fi > "$DIR/stdin"; echo '{}'`)
			if r := f.draftTool(c.tool, c.arguments); r.IsError {
				t.Errorf("%s", r.Structured)
			}
			if got := f.Calls(); !slices.Equal(got, []string{"pflow-lib --quiet draft " + c.want}) {
				t.Errorf("calls %q", got)
			}
			if got, err := os.ReadFile(filepath.Join(f.Dir, "stdin")); err != nil || string(got) != c.stdin {
				t.Errorf("standard input is %q, %v", got, err)
			}
		})
	}
}

// TestAFaultyDraftIsNoFailure: the draft is there, so the call succeeded, and the short text names each fault. A draft that could not
// be written is a failure.
func TestAFaultyDraftIsNoFailure(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-lib", `case "$*" in
*free) echo '{"name":"free","saved":false,"path":"workflows/free.json","form":"json","valid":true,"warnings":[]}';;
*good) echo '{"name":"good","saved":false,"hidden":true,"path":"workflows/good.json","form":"json","replaced":false,"valid":true,"warnings":[{"type":"conflict","message":"hidden"}],"warnings_total":4}';;
*bad) echo '{"name":"bad","saved":false,"path":"workflows/bad.json","form":"json","replaced":true,"valid":false,"errors":[{"type":"validation_error","message":"wrong one","file":"bad","line":3,"column":2},{"type":"validation_error","message":"wrong two","path":"nodes[1]"}],"errors_total":7,"warnings":[]}'; exit 1;;
*) echo '{"success":false,"error":{"type":"security_error","message":"no"}}'; exit 2;;
esac`)
	for _, tool := range []string{"write_draft", "check_draft"} {
		arguments := func(name string) string {
			if tool == "write_draft" {
				return `{"name":"` + name + `","content":"x"}`
			}
			return `{"name":"` + name + `"}`
		}
		good, bad, failed := f.draftTool(tool, arguments("good")), f.draftTool(tool, arguments("bad")), f.draftTool(tool, arguments("x"))
		if free := f.draftTool(tool, arguments("free")); free.IsError || !strings.Contains(free.Summary, "execute") {
			t.Errorf("%s: %+v", tool, free)
		}
		if good.IsError || strings.Contains(good.Summary, "execute") || !strings.Contains(good.Summary, "hidden") || !strings.Contains(good.Summary, "3 more") || !strings.Contains(good.Summary, "workflows/good.json") {
			t.Errorf("%s: %+v", tool, good)
		}
		if bad.IsError || strings.Count(bad.Summary, "\n") != 2 || !strings.Contains(bad.Summary, "bad:3:2: wrong one") || !strings.Contains(bad.Summary, "nodes[1]: wrong two") || !strings.Contains(bad.Summary, "7") {
			t.Errorf("%s: %+v", tool, bad)
		}
		if !failed.IsError || failed.Summary != "" {
			t.Errorf("%s: %+v", tool, failed)
		}
	}
}

func TestTheTableOfDraftTools(t *testing.T) {
	type hints struct{ readOnly, destructive, idempotent bool }
	want := map[string]hints{
		"write_draft": {destructive: true, idempotent: true}, "read_draft": {readOnly: true, idempotent: true},
		"check_draft": {readOnly: true, idempotent: true}, "delete_draft": {destructive: true},
	}
	tools := (&Front{}).drafts()
	for _, tool := range tools {
		if got := (hints{tool.ReadOnly, tool.Destructive, tool.Idempotent}); got != want[tool.Name] || tool.OpenWorld {
			t.Errorf("%s has the hints %+v", tool.Name, got)
		}
		if len(tool.Description) > 2000 || tool.Title == "" || tool.OutputSchema == nil {
			t.Errorf("%s is not described", tool.Name)
		}
	}
	if len(tools) != len(want) {
		t.Errorf("there are %d tools", len(tools))
	}
	for _, arguments := range []string{`{"name":"d","content":1}`, `{"name":"d","content":["x"]}`, `{"name":"d"}`, `{"name":{},"content":""}`, `{"name":"d","content":"","x":1}`} {
		if _, bad := toolargs.NewChecker("write_draft", tools[0].InputSchema).Check(json.RawMessage(arguments)); bad == nil {
			t.Errorf("%s is accepted", arguments)
		}
	}
}
