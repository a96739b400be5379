package suite

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// TestMainJob is what an agent does, by the client of the MCP SDK for Go: it looks for node types, runs a draft, sees it fail, mends it,
// resumes it, saves it and runs the saved workflow.
func TestMainJob(t *testing.T) {
	t.Parallel()
	for name, reach := range map[string]func(p *place) mcp.Transport{
		"stdio": func(p *place) mcp.Transport {
			serve := exec.Command(p.command("pflow-serve").Path)
			serve.Dir, serve.Env = p.dir, p.env
			return &mcp.CommandTransport{Command: serve}
		},
		"http": func(p *place) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: p.open("--toolsets", "core").url}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), reach(p), nil)
			if err != nil {
				t.Fatalf("no session: %v", err)
			}
			defer func() { _ = session.Close() }()
			(&agent{p, session}).mainJob()
		})
	}
}

type object = map[string]any

// agent is a client of pflow-serve with a library.
type agent struct {
	*place
	session *mcp.ClientSession
}

func (a *agent) mainJob() {
	a.Helper()
	list, err := a.session.ListTools(a.Context(), nil)
	if err != nil {
		a.Fatalf("tools/list fails: %v", err)
	}
	var tools []string
	for _, tool := range list.Tools {
		tools = append(tools, tool.Name)
	}
	slices.Sort(tools)
	if want := []string{"browse_components", "describe_workflow", "execute", "list_library", "save_to_library"}; !slices.Equal(tools, want) {
		a.Fatalf("the tools are %q, want %q", tools, want)
	}

	a.expect(a.call("browse_components", object{"query": "shell"}), `nodes.#(type=="shell").type`, "shell")

	inputs := object{"title": "What was said", "log": a.dir + "/log"}
	a.draft("report", lineReport(`cat "${log}.missing"`))
	failure := a.call("execute", object{"name": "report", "inputs": inputs})
	a.expect(failure, "success", false)
	a.expect(failure, "error.node", "second")
	a.expect(failure, "checkpoint.completed_nodes", []any{"first"})
	a.expect(failure, "checkpoint.failed_node", "second")

	a.draft("report", lineReport(`cat "${log}"`))
	resumed := a.call("execute", object{"name": "report", "resume": failure.Get("checkpoint.run_id").Str})
	a.expect(resumed, "success", true)
	a.expect(resumed, "outputs.report", "What was said: one line")
	if got := a.read("log"); got != "one line\n" {
		a.Errorf("the first node left %q, want one line: it must not run again", got)
	}

	a.expect(a.call("save_to_library", object{"draft_name": "report", "final_name": "line-report", "description": "Reports the lines of a file"}), "success", true)
	if a.exists("home/workflows/report.json") {
		a.Error("the draft is still there after it was saved")
	}
	library := a.call("list_library", object{})
	a.expect(library, "workflows.#.name", []any{"line-report"})
	a.expect(library, "workflows.#.description", []any{"Reports the lines of a file"})
	described := a.call("describe_workflow", object{"name": "line-report"})
	a.expect(described, "inputs.@keys|#", 2.0)
	a.expect(described, "outputs.@keys", []any{"report"})

	again := a.call("execute", object{"name": "line-report", "inputs": inputs})
	a.expect(again, "success", true)
	a.expect(again, "outputs.report", "What was said: one line\none line")
}

// call calls a tool and returns its structured content. If the call failed, its text must be the same document.
func (a *agent) call(tool string, arguments object) gjson.Result {
	a.Helper()
	result, err := a.session.CallTool(a.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.Fatalf("%s fails: %v", tool, err)
	}
	document, err := json.Marshal(result.StructuredContent)
	if err != nil {
		a.Fatal(err)
	}
	var text string
	for _, c := range result.Content {
		if c, ok := c.(*mcp.TextContent); ok && text == "" {
			text = c.Text
		}
	}
	if text == "" {
		a.Fatalf("%s has no text beside %s", tool, document)
	}
	if shown := gjson.Parse(text).Value(); result.IsError && !reflect.DeepEqual(shown, gjson.ParseBytes(document).Value()) {
		a.Errorf("%s failed: its text is %s, its structured content %s", tool, text, document)
	}
	return gjson.ParseBytes(document)
}

// expect checks a value of a document, at a path of gjson's.
func (a *agent) expect(document gjson.Result, path string, want any) {
	a.Helper()
	if got := document.Get(path).Value(); !reflect.DeepEqual(got, want) {
		a.Fatalf("%s is %v, want %v, in %s", path, got, want, document)
	}
}

// lineReport is a chain of three nodes. Each run of the first one leaves a line in a file.
func lineReport(second string) string {
	return `{"description": "A report in three steps",
		"inputs": {"title": {"type": "string", "description": "what stands before the lines"}, "log": {"type": "string", "description": "the file that gets a line at each run"}},
		"nodes": [{"id": "first", "type": "shell", "params": {"command": "echo one line >> \"${log}\""}},
			{"id": "second", "type": "shell", "params": {"command": ` + string(rawjson.Quote(second)) + `}},
			{"id": "third", "type": "shell", "params": {"command": "printf \"%s: %s\" \"${title}\" \"${second.stdout}\""}}],
		"edges": [{"from": "first", "to": "second"}, {"from": "second", "to": "third"}],
		"outputs": {"report": {"description": "the title and the lines", "source": "${third.stdout}"}}}`
}
