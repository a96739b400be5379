package suitetools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// answering is a script that prints the words it was called with as one JSON document.
const answering = `printf '{"called":"%s","workflows":[]}\n' "$*"`

func TestToolsAreCommands(t *testing.T) {
	for _, c := range []struct{ tool, arguments, want string }{
		{"browse_components", `{}`, "pflow-lib --quiet search --format json --max-bytes=8192"},
		{"browse_components", `{"query":"read file"}`, "pflow-lib --quiet search --format json --max-bytes=8192 -- read file"},
		{"browse_components", `{"query":"--help","include_workflows":false}`, "pflow-lib --quiet search --format json --max-bytes=8192 --no-workflows -- --help"},
		{"browse_components", `{"include_workflows":true}`, "pflow-lib --quiet search --format json --max-bytes=8192"},
		{"list_library", `{}`, "pflow-lib --quiet list --format json --max-bytes=8192"},
		{"list_library", `{"pattern":"-*"}`, "pflow-lib --quiet list --format json --max-bytes=8192 -- -*"},
		{"describe_workflow", `{"name":"--version"}`, "pflow-lib --quiet describe --format json --max-bytes=8192 -- --version"},
		{"save_to_library", `{"draft_name":"a","final_name":"--force","description":"--x"}`, "pflow-lib --quiet save --format json --description=--x -- a --force"},
	} {
		t.Run(c.tool+" "+c.arguments, func(t *testing.T) {
			f := newFakes(t)
			f.Program("pflow-lib", answering)
			if a, r := f.call(f.front(), c.tool, c.arguments); r.IsError {
				t.Errorf("%v", a)
			}
			if got := f.Calls(); !slices.Equal(got, []string{c.want}) {
				t.Errorf("calls %q, not %q", got, c.want)
			}
		})
	}
}

func TestListLibraryIsAnObject(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-lib", `echo '{"workflows":[{"name":"a","runs":9007199254740993}],"total":7,"next_cursor":"Ab"}'`)
	_, r := f.call(f.front(), "list_library", `{}`)
	if string(r.Structured) != `{"workflows":[{"name":"a","runs":9007199254740993}],"total":7,"next_cursor":"Ab"}` || r.Text != `[{"name":"a","runs":9007199254740993}]` {
		t.Errorf("%s, %s", r.Structured, r.Text)
	}
	if r.Supplement != `{"total":7,"next_cursor":"Ab"}` {
		t.Errorf("the second text is %s", r.Supplement)
	}
	for arguments, want := range map[string]string{`{"limit":0}`: "--max-bytes=0 --limit=0", `{"limit":2,"cursor":"Ab","pattern":"x"}`: "--max-bytes=8192 --limit=2 --cursor=Ab -- x"} {
		f := newFakes(t)
		f.Program("pflow-lib", answering)
		f.call(f.front(), "list_library", arguments)
		if got := f.Calls(); !slices.Equal(got, []string{"pflow-lib --quiet list --format json " + want}) {
			t.Errorf("%s calls %q", arguments, got)
		}
	}
}

func TestFailuresAreFaults(t *testing.T) {
	for _, c := range []struct{ name, script, kind, message string }{
		{"its own", `echo '{"success":false,"error":{"type":"not_found","message":"no such thing"}}'; exit 2`, "not_found", "no such thing"},
		{"no JSON", "echo hello; echo because >&2; exit 1", "protocol_error", "(exit status 1)"},
		{"nothing", "exit 0", "protocol_error", "(exit status 0)"},
		{"killed", "kill -KILL $$", "protocol_error", "(exit status 137)"},
		{"not there", "", "unavailable", "pflow-lib"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakes(t)
			if c.script != "" {
				f.Program("pflow-lib", c.script)
			}
			for _, tool := range []string{"list_library", "browse_components"} {
				a, r := f.call(f.front(), tool, `{}`)
				kind, message := faultOf(a)
				if !r.IsError || a["success"] != false || kind != c.kind || !strings.Contains(message, c.message) {
					t.Errorf("%s: %s", tool, r.Structured)
				}
				if c.name == "no JSON" && !strings.Contains(string(r.Structured), "because") {
					t.Errorf("%s does not say why: %s", tool, r.Structured)
				}
			}
		})
	}
}

func TestArgumentsThatDoNotDecode(t *testing.T) {
	f := newFakes(t)
	for _, tool := range f.front().Tools() {
		a, r := f.call(f.front(), tool.Name, `{"query":1,"pattern":1,"name":1,"draft_name":1}`)
		if kind, _ := faultOf(a); !r.IsError || kind != "usage_error" {
			t.Errorf("%s: %s", tool.Name, r.Structured)
		}
	}
	if got := f.Calls(); got != nil {
		t.Errorf("started %q", got)
	}
}

// TestTheTable: five tools, and what a client goes by before it calls one.
func TestTheTable(t *testing.T) {
	type hints struct{ readOnly, destructive, openWorld bool }
	want := map[string]hints{
		"browse_components": {readOnly: true}, "list_library": {readOnly: true}, "describe_workflow": {readOnly: true},
		"execute": {destructive: true, openWorld: true}, "save_to_library": {},
	}
	tools := (&Front{}).Tools()
	if len(tools) != len(want) {
		t.Errorf("there are %d tools, not %d", len(tools), len(want))
	}
	for _, tool := range tools {
		if got := (hints{tool.ReadOnly, tool.Destructive, tool.OpenWorld}); got != want[tool.Name] {
			t.Errorf("%s has the hints %+v, not %+v", tool.Name, got, want[tool.Name])
		}
		if always := tool.Meta["anthropic/alwaysLoad"] == true; always != (tool.Name == "execute" || tool.Name == "browse_components") {
			t.Errorf("%s is always loaded: %v", tool.Name, always)
		}
		checkSchema(t, tool)
	}
}

// checkSchema checks that a schema refuses what it does not name and says of every property what it is.
func checkSchema(t *testing.T, tool mcpserver.Tool) {
	t.Helper()
	var schema struct {
		Type                 string `json:"type"`
		AdditionalProperties *bool  `json:"additionalProperties"`
		Required             []string
		Properties           map[string]struct {
			Type        any // a name, or several
			Description string
		}
	}
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties {
		t.Errorf("%s takes what its schema does not name", tool.Name)
	}
	for _, name := range schema.Required {
		if _, ok := schema.Properties[name]; !ok {
			t.Errorf("%s requires %s and does not say what it is", tool.Name, name)
		}
	}
	for name, p := range schema.Properties {
		if p.Type == nil || p.Description == "" {
			t.Errorf("%s does not say what %s is", tool.Name, name)
		}
	}
}
