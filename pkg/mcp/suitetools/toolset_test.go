package suitetools

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// everyToolset returns the names of all toolsets.
func everyToolset() []string {
	var names []string
	for _, t := range toolsets() {
		names = append(names, t.name)
	}
	return names
}

func TestParseToolsets(t *testing.T) {
	for text, want := range map[string]string{
		"": "core", " ": "core", "core": "core", "servers": "servers", "servers,core": "servers core", " core , servers,core ": "core servers",
	} {
		if got, err := ParseToolsets(text); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"servrs", "core,servrs", "Servers", ",", "core,", "core servers", strings.Repeat("x", 1000)} {
		_, err := ParseToolsets(text)
		f := fault.From(err)
		if f == nil || f.Type != fault.Usage || !slices.Equal(f.Available, everyToolset()) || len(f.Message) > 200 {
			t.Errorf("%q: %v", text, err)
		}
		if strings.Contains(text, "servrs") && !strings.Contains(f.Suggestions[0], `"servers"`) {
			t.Errorf("%q: %q", text, f.Suggestions)
		}
	}
}

// TestEveryTool holds what clients want of names, texts and schemas, in every toolset.
func TestEveryTool(t *testing.T) {
	name, seen := regexp.MustCompile(`^[a-z0-9_-]{1,40}$`), map[string]bool{}
	for _, tool := range (&Front{Toolsets: everyToolset()}).Tools() {
		checkSchema(t, tool)
		if !name.MatchString(tool.Name) || seen[tool.Name] {
			t.Errorf("the name %q", tool.Name)
		}
		seen[tool.Name] = true
		if tool.Title == "" || tool.Description == "" || len(tool.Description) > 2048 {
			t.Errorf("%s: the title %q, and a description of %d bytes", tool.Name, tool.Title, len(tool.Description))
		}
		for what, raw := range map[string][]byte{"input": tool.InputSchema, "output": tool.OutputSchema} {
			s, f := jsonschema.Compile(raw)
			if f != nil {
				t.Errorf("the %s schema of %s: %v", what, tool.Name, f)
				continue
			}
			root := s.Document()
			if !s.IsObject() || root["oneOf"] != nil || root["anyOf"] != nil || root["allOf"] != nil || root["required"] != nil && what == "output" {
				t.Errorf("the %s schema of %s: %s", what, tool.Name, raw)
			}
		}
	}
}

func TestToolsOfToolsetsAreCommands(t *testing.T) {
	const sync, flux = "pflow-sync --quiet ", "veloflux-mcp --quiet "
	for _, c := range []struct{ tool, arguments, want, stdin string }{
		{"list_servers", `{}`, sync + "list --format json --max-bytes=8192", ""},
		{"list_servers", `{"limit":0}`, sync + "list --format json --max-bytes=0 --limit=0", ""},
		{"list_servers", `{"limit":3,"cursor":"-x"}`, sync + "list --format json --max-bytes=8192 --limit=3 --cursor=-x", ""},
		{"sync_server", `{"server":"a"}`, sync + "sync --format json -- a", ""},
		{"sync_server", `{"server":"a","replace":true}`, sync + "sync --format json --replace -- a", ""},
		{"list_server_tools", `{}`, sync + "tools --format json --max-bytes=8192 --  ", ""},
		{"list_server_tools", `{"server":"a","tool":"b"}`, sync + "tools --format json --max-bytes=8192 -- a b", ""},
		{"call_server_tool", `{"server":"a","tool":"b c"}`, sync + "call --format json --max-bytes=8192 -- a b c -", "{}"},
		{"call_server_tool", `{"server":"a","tool":"b","max_bytes":0,"arguments":{"n":9007199254740993,"x":null}}`, sync + "call --format json --max-bytes=0 -- a b -", `{"n":9007199254740993,"x":null}`},
		{"call_server_tool", `{"server":"a","tool":"b","max_bytes":1}`, sync + "call --format json --max-bytes=1024 -- a b -", "{}"},
		{"veloflux_call", `{"tool":"streams.list"}`, flux + "call --format json -- streams.list -", "{}"},
		{"veloflux_call", `{"tool":"a.b","arguments":{"c":1.50}}`, flux + "call --format json -- a.b -", `{"c":1.50}`},
		{"veloflux_read", `{"uri":"--help"}`, flux + "read --format json -- --help", ""},
	} {
		t.Run(c.tool+" "+c.arguments, func(t *testing.T) {
			f := newFakes(t)
			for _, program := range []string{"pflow-sync", "veloflux-mcp"} {
				f.Program(program, `cat > "$DIR/stdin"; echo '{"success":true}'`)
			}
			if a, r := f.call(&Front{Suite: f.suite, Toolsets: everyToolset()}, c.tool, c.arguments); r.IsError || r.Summary == "" {
				t.Errorf("%v, with the summary %q", a, r.Summary)
			}
			if got := f.Calls(); !slices.Equal(got, []string{strings.TrimSpace(c.want)}) {
				t.Errorf("calls %q, not %q", got, c.want)
			}
			if got, _ := os.ReadFile(filepath.Join(f.Dir, "stdin")); string(got) != c.stdin {
				t.Errorf("standard input is %q, not %q", got, c.stdin)
			}
		})
	}
}

// TestVelofluxErrorsKeepTheirShape: the error object of veloflux-mcp is the error of the tool.
func TestVelofluxErrorsKeepTheirShape(t *testing.T) {
	f := newFakes(t)
	const said = `{"success":false,"error":{"error_code":"planner_error","error_message":"no","details":{"line":1}}}`
	f.Program("veloflux-mcp", "echo '"+said+"'; exit 1")
	for tool, arguments := range map[string]string{"veloflux_call": `{"tool":"pipelines.verify"}`, "veloflux_read": `{"uri":"x"}`} {
		if _, r := f.call(&Front{Suite: f.suite, Toolsets: everyToolset()}, tool, arguments); !r.IsError || string(r.Structured) != said {
			t.Errorf("%s: %s", tool, r.Structured)
		}
	}
}

// TestSummaries holds the texts beside long answers: what is there, and where the rest is.
func TestSummaries(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, c := range []struct{ tool, arguments, answer, want string }{
		{"list_servers", `{}`, `{"servers":[{"server":"a"},{"server":"b"}],"total":2}`, `2 of 2 servers: a, b`},
		{"list_servers", `{}`, `{"servers":[{"server":"a"}],"total":2,"next_cursor":"c1"}`, "1 of 2 servers: a\nMore: cursor"},
		{"list_servers", `{}`, `{"servers":[{"server":"a","error":{"message":"no command"}},{"server":"b"}],"total":2,"warnings":[{"message":"torn"}]}`, "2 of 2 servers: a, b\ntorn\na cannot be used: no command"},
		{"sync_server", `{"server":"a"}`, `{"tools_registered":2,"tools_removed":1,"servers":[{"server":"a"}]}`, "2 tools of a are node types, 1 were removed. browse_components finds them."},
		{"sync_server", `{"server":"a"}`, `{"tools_registered":2,"tools_removed":0,"servers":[{"server":"a","overwritten":["mcp-a-x"],"renamed":[{"from":"mcp-a-b","to":"mcp-a-c"}],"kept":["t"]}],"corrupt":"registry.json.corrupt-1"}`,
			"2 tools of a are node types, 0 were removed. browse_components finds them.\nThe definitions of these node types have changed: mcp-a-x\nThese node types have new names, which workflows must use: mcp-a-c\n" +
				"These tools were left out, because another program has written their entries, which replace set to true replaces: t\nThe registry was corrupt: it was moved to registry.json.corrupt-1"},
		{"list_server_tools", `{}`, `{"tools":[{"server":"s","tool":"t","node_type":"mcp-s-t"}],"total":1}`, `1 of 1 tools: mcp-s-t`},
		{"call_server_tool", `{"server":"s","tool":"t"}`, `{"server":"s","tool":"t","result":{"a":1}}`, `t of s returned: {"a":1}`},
		{"call_server_tool", `{"server":"s","tool":"t"}`, `{"server":"s","tool":"t","result":null,"result_head":"` + long + `"}`, `t of s returned: ` + strings.Repeat("x", summaryBytes)},
		{"veloflux_call", `{"tool":"t"}`, `{"a":1}`, `{"a":1}`},
		{"veloflux_read", `{"uri":"t"}`, `{"a":"` + long + `"}`, `{"a":"` + strings.Repeat("x", summaryBytes-len(`{"a":"`))},
		{"save_to_library", `{}`, `{"success":true,"name":"n","path":"/p","not_bundled":[{"type":"not_found","message":"left behind"}]}`, `Saved as n in /p. To run it: execute with name "n".` + "\nleft behind"},
	} {
		f := newFakes(t)
		for _, program := range []string{"pflow-sync", "veloflux-mcp", "pflow-lib"} {
			f.Program(program, "cat <<'END'\n"+c.answer+"\nEND")
		}
		_, r := f.call(&Front{Suite: f.suite, Toolsets: everyToolset()}, c.tool, c.arguments)
		if !strings.HasPrefix(r.Summary, c.want) || len(r.Summary) > 2*summaryBytes {
			t.Errorf("%s: %q", c.tool, r.Summary)
		}
	}
}

func TestInstructions(t *testing.T) {
	all := &Front{Toolsets: everyToolset()}
	for _, drafts := range []string{"/home/someone/.pflow/workflows", "/" + strings.Repeat("long/", 100)} {
		text := all.Instructions(drafts)
		if len([]rune(text)) >= 1500 || len(text) > 2000 {
			t.Errorf("%d characters, %d bytes: %s", len([]rune(text)), len(text), text)
		}
		if strings.Contains(text, "DRAFTS") || !strings.Contains(text, "pflow://guide") {
			t.Error(text)
		}
	}
	core, servers := (&Front{}).Instructions("/d"), (&Front{Toolsets: []string{"servers"}}).Instructions("/d")
	if !strings.Contains(core, "/d/NAME.json") || strings.Contains(core, "list_servers") {
		t.Error(core)
	}
	if strings.Contains(servers, "execute") || !strings.Contains(servers, "list_servers") {
		t.Error(servers)
	}
}

// TestToolsThatAreNotServed: a tool of another toolset is named with it.
func TestToolsThatAreNotServed(t *testing.T) {
	f := &Front{}
	if err := fault.From(f.Unknown(t.Context(), &mcpserver.Call{Tool: "sync_server"})); err == nil || err.Type != fault.NotFound || !strings.Contains(err.Suggestions[0], "core,servers") {
		t.Errorf("%v", err)
	}
	brought := &Front{Toolsets: []string{"workflows"}}
	if err := fault.From(brought.Unknown(t.Context(), &mcpserver.Call{Tool: "execute"})); err == nil || !strings.HasSuffix(err.Suggestions[0], " core,runs,workflows") {
		t.Errorf("%v", err)
	}
	limited := &Front{Toolsets: []string{"workflows"}, Only: []string{"greet"}}
	for _, tool := range []string{"execute", "refresh_workflows"} {
		if err := fault.From(limited.Unknown(t.Context(), &mcpserver.Call{Tool: tool})); err == nil || err.Type != fault.NotFound || len(err.Suggestions) != 0 {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if err := f.Unknown(t.Context(), &mcpserver.Call{Tool: "sync_servr"}); err != nil {
		t.Errorf("no tool at all: %v", err)
	}
}
