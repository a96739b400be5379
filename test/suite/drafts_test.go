package suite

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheMainJobWithoutFiles: an agent that has only the tools of a session writes a workflow with a fault, corrects it, runs it, mends the
// run and saves it, in 8 calls with small answers.
func TestTheMainJobWithoutFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.connect("pflow-serve", "--toolsets", "core,drafts")
	calls, bytes := 0, 0
	call := func(tool, arguments string) (map[string]any, bool) {
		t.Helper()
		a, failed := c.call(tool, arguments)
		raw, err := json.Marshal(a)
		if err != nil || len(raw) > maxAnswer {
			t.Errorf("%s answers %d bytes, %v", tool, len(raw), err)
		}
		calls, bytes = calls+1, bytes+len(raw)
		return a, failed
	}
	write := func(command string) (map[string]any, bool) {
		return call("write_draft", `{"name":"count","content":{"description":"Count","nodes":[{"id":"once","type":"shell","params":{"command":"echo x >> ran.txt; echo 7"}},`+
			`{"id":"use","type":"shell","params":{"command":`+quote(command)+`}}],"outputs":{"n":{"source":"${use.stdout}"}}}}`)
	}
	if a, failed := call("browse_components", `{"query":"run a command","detail":"brief"}`); failed {
		t.Fatalf("%v", a)
	}
	if a, failed := write(`echo "${oncee.stdout}"; exit 3`); failed || a["valid"] != false || len(a["errors"].([]any)) != 1 {
		t.Fatalf("a draft with a fault: %v", a)
	}
	if a, failed := write(`echo "${once.stdout}"; exit 3`); failed || a["valid"] != true || a["replaced"] != true || a["path"] != "workflows/count.json" {
		t.Fatalf("the corrected draft: %v", a)
	}
	a, failed := call("execute", `{"name":"count"}`)
	checkpoint, _ := a["checkpoint"].(map[string]any)
	if !failed || checkpoint["failed_node"] != "use" {
		t.Fatalf("execute: %v", a)
	}
	if a, failed := write(`echo "${once.stdout}"`); failed || a["valid"] != true {
		t.Fatalf("the mended draft: %v", a)
	}
	if a, failed := call("execute", fmt.Sprintf(`{"name":"count","resume":%q}`, checkpoint["run_id"])); failed || fmt.Sprint(a["outputs"]) != "map[n:7]" {
		t.Fatalf("resume: %v", a)
	}
	if a, failed := call("save_to_library", `{"draft_name":"count","final_name":"count","description":"Count"}`); failed {
		t.Fatalf("save: %v", a)
	}
	if a, failed := call("execute", `{"name":"count"}`); failed || fmt.Sprint(a["outputs"]) != "map[n:7]" {
		t.Fatalf("the saved one: %v", a)
	}
	c.leave()
	if p.read("ran.txt") != "x\nx\n" || calls > 8 || bytes > maxAnswer {
		t.Errorf("the first node ran for %q, in %d calls with %d bytes", p.read("ran.txt"), calls, bytes)
	}
}

// TestDraftTools reads, checks and deletes drafts of both forms, and never touches a saved workflow or a file outside the home.
func TestDraftTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	saved := p.write("home/library/kept.json", `{"nodes":[{"id":"a","type":"echo"}]}`)
	p.write("outside.json", `{"nodes":[{"id":"a","type":"echo"}]}`)
	c := p.connect("pflow-serve", "--toolsets=drafts")
	markdown := "# T\n\nSay it.\n\n## Steps\n\n### a\n\nSay it.\n\n- type: echo\n"
	if a, failed := c.call("write_draft", `{"name":"kept","content":`+quote(markdown)+`}`); failed || a["valid"] != true || a["form"] != "markdown" || len(a["warnings"].([]any)) != 1 {
		t.Errorf("a draft that is hidden: %v", a)
	}
	if a, failed := c.call("read_draft", `{"name":"kept"}`); failed || a["content"] != markdown || a["hidden"] != true || a["path"] != "workflows/kept.pflow.md" {
		t.Errorf("read: %v", a)
	}
	if a, failed := c.call("write_draft", `{"name":"kept","content":"{\"nodes\": ["}`); failed || a["valid"] != false || a["form"] != "json" || p.read("home/workflows/kept.json") != `{"nodes": [` {
		t.Errorf("a faulty text in the other form: %v", a)
	}
	if p.exists("home/workflows/kept.pflow.md") {
		t.Error("there are files of both forms")
	}
	if a, failed := c.call("check_draft", `{"name":"kept"}`); failed || a["valid"] != false || a["errors"] == nil {
		t.Errorf("check: %v", a)
	}
	long := "# T\n\n" + strings.Repeat("é\"\n", 9000)
	if a, failed := c.call("write_draft", `{"name":"long","content":`+quote(long)+`}`); failed {
		t.Errorf("%v", a)
	}
	got, cursor, pages := "", "", 0
	for {
		a, failed := c.call("read_draft", fmt.Sprintf(`{"name":"long","cursor":%q}`, cursor))
		raw, _ := json.Marshal(a)
		if failed || len(raw) > maxAnswer {
			t.Fatalf("page %d: %d bytes, %.200s", pages, len(raw), raw)
		}
		got += a["content"].(string)
		pages++
		if cursor, _ = a["next_cursor"].(string); cursor == "" {
			break
		}
	}
	if a, _ := c.call("read_draft", `{"name":"long","limit":0}`); got != long || pages < 3 || a["content"] != long {
		t.Errorf("%d pages of %d bytes, not %d", pages, len(got), len(long))
	}
	for _, name := range []string{"../../outside", "../outside", filepath.Join(p.dir, "outside"), "..", "a/b", `a\b`, "skill", "A", ""} {
		for tool, more := range map[string]string{"write_draft": `,"content":"{}"`, "read_draft": "", "check_draft": "", "delete_draft": ""} {
			a, failed := c.call(tool, `{"name":`+quote(name)+more+`}`)
			if shown := fmt.Sprint(a); !failed || strings.Contains(shown, p.dir) && !strings.Contains(name, p.dir) {
				t.Errorf("%s %q: %v", tool, name, a)
			}
		}
	}
	if a, failed := c.call("delete_draft", `{"name":"kept"}`); failed || a["saved"] != false || p.exists("home/workflows/kept.json") || !p.exists("home/library/kept.json") {
		t.Errorf("delete: %v, and %s", a, saved)
	}
	if a, failed := c.call("delete_draft", `{"name":"kept"}`); !failed || !p.exists("home/library/kept.json") {
		t.Errorf("delete again: %v", a)
	}
	c.leave()
}

// TestPrompts gets both prompts through a session.
func TestPrompts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("broken", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo reason >&2; exit 3"}}]}`)
	c := p.connect("pflow-serve", "--toolsets", "core,drafts")
	text := func(name string, arguments map[string]string) string {
		t.Helper()
		result, code, data := c.ask("prompts/get", map[string]any{"name": name, "arguments": arguments})
		messages, _ := result["messages"].([]any)
		if len(messages) != 1 {
			t.Fatalf("%s: %d %v", name, code, data)
		}
		message, _ := messages[0].(map[string]any)
		content, _ := message["content"].(map[string]any)
		shown, _ := content["text"].(string)
		return shown
	}
	if a, failed := c.call("execute", `{"name":"broken"}`); !failed {
		t.Fatalf("%v", a)
	}
	written := text("write-workflow", map[string]string{"task": "call an HTTP API and filter its JSON"})
	for _, part := range []string{"call an HTTP API", "`http`", "`jq`", "write_draft", p.must("pflow-lib", "guide")} {
		if !strings.Contains(written, part) {
			t.Errorf("%.60q is not in\n%s", part, written)
		}
	}
	mended := text("mend-run", nil)
	for _, part := range []string{p.onlyRun(), "reason", "exit 3", "write_draft", "resume"} {
		if !strings.Contains(mended, part) {
			t.Errorf("%q is not in\n%s", part, mended)
		}
	}
	for _, run := range []string{"rzz", "../../x"} {
		if _, code, data := c.ask("prompts/get", map[string]any{"name": "mend-run", "arguments": map[string]string{"run": run}}); code != -32602 || data["type"] == nil {
			t.Errorf("%s: %d %v", run, code, data)
		}
	}
	if _, code, _ := c.ask("prompts/get", map[string]any{"name": "write-workflow"}); code != -32602 {
		t.Errorf("without a task: %d", code)
	}
	c.leave()
}
