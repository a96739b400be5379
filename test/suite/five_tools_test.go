package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// github is the program of a node type with that name.
const github = `#!/bin/sh
[ "$1" = --describe ] && exec echo '{"interface":{"description":"GitHub operations","params":[{"name":"repo","type":"str","required":true}],"outputs":[{"name":"issues","type":"list"}]}}'
cat >/dev/null; echo '{"issues":[]}'
`

// githubHome returns a place in which github is a node type.
func githubHome(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	if err := os.Chmod(p.write("home/nodes/pflow-node-github", github), 0o700); err != nil {
		t.Fatal(err)
	}
	p.must("pflow-sync", "nodes")
	return p
}

// saved writes a workflow into the library.
func (p *place) saved(name, workflow string) {
	p.Helper()
	p.write("home/library/"+name+".json", workflow)
}

// described is a chain with a description.
func described(description string, commands ...string) string {
	text, err := sjson.Set(chain(commands...), "description", description)
	if err != nil {
		return err.Error() // a workflow that no test takes for a good one
	}
	return text
}

// result calls a tool and returns the structured content of its answer.
func (c *client) result(tool, arguments string) gjson.Result {
	c.Helper()
	answer, _ := c.call(tool, arguments)
	raw, err := json.Marshal(answer)
	if err != nil {
		c.Fatal(err)
	}
	return gjson.ParseBytes(raw)
}

// sorted returns the texts at a path of a document, sorted.
func sorted(document gjson.Result, path string) []string {
	list := []string{}
	for _, v := range document.Get(path).Array() {
		list = append(list, v.String())
	}
	slices.Sort(list)
	return list
}

func TestThereAreExactlyFiveTools(t *testing.T) {
	t.Parallel()
	c := newPlace(t).connect("pflow-serve")
	c.id++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, c.id))
	raw, _ := json.Marshal(c.receive())
	if got := sorted(gjson.ParseBytes(raw), "result.tools.#.name"); fmt.Sprint(got) != "[browse_components describe_workflow execute list_library save_to_library]" {
		t.Errorf("the tools are %q", got)
	}
	c.leave()
}

func TestBrowseFindsANodeTypeWithItsInterface(t *testing.T) {
	t.Parallel()
	c := githubHome(t).connect("pflow-serve")
	n := c.result("browse_components", `{"query":"github","include_workflows":true}`).Get(`nodes.#(type=="github")`)
	if n.Get("description").Str != "GitHub operations" || n.Get("inputs.0.key").Str != "repo" || n.Get("inputs.0.name").Str != "repo" ||
		n.Get("inputs.0.type").Str != "str" || n.Get("outputs.0.name").Str != "issues" {
		t.Errorf("github is found as %s", n.Raw)
	}
	c.leave()
}

func TestBrowseFindsWorkflowsUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	p := githubHome(t)
	p.saved("github-report", described("Reports on GitHub", "echo x"))
	c := p.connect("pflow-serve")
	for arguments, want := range map[string]bool{
		`{"query":"github"}`: true, `{"query":"github","include_workflows":true}`: true,
		`{"query":"github","include_workflows":null}`: true, `{"query":"github","include_workflows":false}`: false,
	} {
		found := c.result("browse_components", arguments).Get("workflows")
		if found.Exists() != want || found.Get("#.name").Exists() && fmt.Sprint(sorted(found, "#.name")) != "[github-report]" {
			t.Errorf("%s finds the workflows %s", arguments, found.Raw)
		}
	}
	c.leave()
}

func TestNothingFoundIsNoError(t *testing.T) {
	t.Parallel()
	c := newPlace(t).connect("pflow-serve")
	a, failed := c.call("browse_components", `{"query":"purple elephant"}`)
	nodes, _ := a["nodes"].([]any)
	workflows, _ := a["workflows"].([]any)
	if failed || nodes == nil || workflows == nil || len(nodes)+len(workflows) > 0 {
		t.Errorf("%v %v", failed, a)
	}
	c.leave()
}

func TestListHasAllOrThoseOfAPattern(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"alpha", "test-one", "two-test"} {
		p.saved(name, described("Is "+name, "echo x"))
	}
	p.draft("test-draft", chain("echo x"))
	c := p.connect("pflow-serve")
	for arguments, want := range map[string]string{
		`{}`: "[alpha test-one two-test]", `{"pattern":null}`: "[alpha test-one two-test]",
		`{"pattern":"test"}`: "[test-one two-test]", `{"pattern":"test-*"}`: "[test-one]", `{"pattern":"nothing"}`: "[]",
	} {
		if got := c.result("list_library", arguments); fmt.Sprint(sorted(got, "workflows.#.name")) != want {
			t.Errorf("%s lists %s, not %s", arguments, got.Raw, want)
		}
	}
	c.leave()
}

// The workflow declares an input and reads an environment variable's name in a template, besides a node.
func TestDescribeHasTheInterfaceAndTheStatistics(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.saved("greet", `{"description":"Greets","inputs":{"who":{"type":"string","description":"whom"},"times":{"type":"integer","default":2}},
		"nodes":[{"id":"say","type":"echo","params":{"message":"${who} ${times}"}},{"id":"again","type":"echo","params":{"message":"${say.echo}"}}],
		"outputs":{"said":{"source":"${again.echo}","description":"what was said"}}}`)
	c := p.connect("pflow-serve")
	d := c.result("describe_workflow", `{"name":"greet"}`)
	if !d.Get("inputs.who.required").Bool() || d.Get("inputs.who.type").Str != "string" || d.Get("inputs.times.default").Int() != 2 ||
		d.Get("outputs.said.description").Str != "what was said" || fmt.Sprint(sorted(d, "template_inputs")) != "[times who]" || d.Get("statistics.runs").Int() != 0 {
		t.Errorf("greet is described as %s", d.Raw)
	}
	if r := c.result("execute", `{"name":"greet","inputs":{"who":"you"}}`); r.Get("outputs.said").Str != "you 2" {
		t.Errorf("execute answers %s", r.Raw)
	}
	p.eventually("the run is counted", func() bool {
		s := c.result("describe_workflow", `{"name":"greet"}`).Get("statistics")
		return s.Get("runs").Int() == 1 && s.Get("successes").Int() == 1 && s.Get("last_status").Str == "completed" && s.Get("success_rate").Num == 1
	})
	c.leave()
}

func TestExecuteTriesTheLibraryThenTheDrafts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.saved("both", chain("echo saved"))
	p.draft("both", chain("echo draft"))
	p.draft("one", chain("echo draft"))
	c := p.connect("pflow-serve")
	for name, want := range map[string]string{"both": "saved", "one": "draft"} {
		if r := c.result("execute", `{"name":"`+name+`"}`); !r.Get("success").Bool() || r.Get("outputs.last").Str != want || r.Get("checkpoint").Type != gjson.Null {
			t.Errorf("execute of %s answers %s", name, r.Raw)
		}
	}
	if a, failed := c.call("execute", `{"name":"neither"}`); !failed || gjson.Get(fmt.Sprint(toJSON(a)), "error.type").Str != "not_found" {
		t.Errorf("execute of a workflow that does not exist answers %v", a)
	}
	c.leave()
}

func toJSON(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// A run fails once, in order: the answer is its checkpoint, the draft is as its author wrote it, and no node ran again.
func TestAFailureIsACheckpointAndMendsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	written := chain("echo a >> ran.txt", "echo b >> ran.txt; echo noise; echo more noise >&2; exit 3", "echo c >> ran.txt")
	p.draft("breaks", written)
	c := p.connect("pflow-serve")
	r := c.result("execute", `{"name":"breaks"}`)
	if r.Get("success").Bool() || r.Get("error.node").Str != "b" || r.Get("checkpoint.failed_node").Str != "b" ||
		fmt.Sprint(sorted(r, "checkpoint.completed_nodes")) != "[a]" || r.Get("checkpoint.run_id").Str == "" {
		t.Errorf("execute answers %s", r.Raw)
	}
	if got := p.read("ran.txt"); got != "a\nb\n" {
		t.Errorf("%q ran", got)
	}
	if got := p.read("home/workflows/breaks.json"); got != written {
		t.Errorf("the draft is now %s", got)
	}
	p.draft("breaks", chain("echo a >> ran.txt", "echo mended >> ran.txt", "echo c >> ran.txt"))
	r = c.result("execute", `{"name":"breaks","resume":"`+r.Get("checkpoint.run_id").Str+`"}`)
	if got := p.read("ran.txt"); !r.Get("success").Bool() || got != "a\nb\nmended\nc\n" {
		t.Errorf("resumed, execute answers %s, and %q ran", r.Raw, got)
	}
	c.leave() // nothing but answers was printed, and nothing on standard error
}

func TestMissingInputsAreNamedBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("needy", `{"inputs":{"api_key":{"type":"string"}},"nodes":[{"id":"init","type":"shell","params":{"command":"echo x >> ran.txt"}},
		{"id":"fetch","type":"echo","params":{"message":"${api_key}"}}],"edges":[{"from":"init","to":"fetch"}]}`)
	c := p.connect("pflow-serve")
	r := c.result("execute", `{"name":"needy","inputs":{}}`)
	if e := r.Get("error"); e.Get("type").Str != "template_error" || !strings.HasPrefix(e.Get("message").Str, "Template ${api_key} not resolved") ||
		e.Get("node").Str != "fetch" || fmt.Sprint(sorted(e, "missing")) != "[api_key]" || p.read("ran.txt") != "" {
		t.Errorf("execute answers %s, and %q ran", r.Raw, p.read("ran.txt"))
	}
	c.leave()
}

func TestSaveMovesADraft(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("draft", chain("echo hello"))
	p.saved("taken", chain("echo first"))
	c := p.connect("pflow-serve")
	for arguments, want := range map[string]string{
		`{"draft_name":"nothing","final_name":"x","description":"d"}`:   "not_found",
		`{"draft_name":"taken","final_name":"x","description":"d"}`:     "not_found",
		`{"draft_name":"draft","final_name":"taken","description":"d"}`: "already_exists",
	} {
		if r := c.result("save_to_library", arguments); r.Get("success").Bool() || r.Get("error.type").Str != want {
			t.Errorf("%s answers %s", arguments, r.Raw)
		}
	}
	if p.read("home/workflows/draft.json") == "" || !strings.Contains(p.read("home/library/taken.json"), "first") {
		t.Error("a refused save changed something")
	}
	r := c.result("save_to_library", `{"draft_name":"draft","final_name":"final","description":"Says hello"}`)
	if !r.Get("success").Bool() || !strings.HasSuffix(r.Get("path").Str, "library/final.json") {
		t.Errorf("save answers %s", r.Raw)
	}
	if p.read("home/workflows/draft.json") != "" || gjson.Get(p.read("home/library/final.json"), "description").Str != "Says hello" {
		t.Error("the draft was not moved")
	}
	c.leave()
}

// Many clients save different drafts under one name at once: one of them wins, and the others keep their drafts.
func TestSaveIsOneStep(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const savers = 8
	ended := make(chan bool)
	for i := range savers {
		p.draft(fmt.Sprint("draft-", i), chain(fmt.Sprint("echo ", i)))
		c := p.connect("pflow-serve")
		go func() {
			defer func() { ended <- true }()
			c.call("save_to_library", fmt.Sprintf(`{"draft_name":"draft-%d","final_name":"final","description":"d"}`, i))
			c.leave()
		}()
	}
	for range savers {
		<-ended
	}
	left, err := filepath.Glob(filepath.Join(p.home, "workflows", "draft-*.json"))
	if err != nil || len(left) != savers-1 {
		t.Errorf("%d drafts are left", len(left))
	}
	for _, path := range left {
		if name := filepath.Base(path); strings.Contains(p.read("home/library/final.json"), "echo "+strings.Trim(name, "draft-.json")+`"`) {
			t.Errorf("%s is saved and still a draft", name)
		}
	}
}

func TestPathsAreNoNames(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("plain", chain("echo x"))
	c := p.connect("pflow-serve")
	for _, name := range []string{"../etc", "/etc/passwd", "a/b", `a\\b`, "..", "x/../../y"} {
		for tool, arguments := range map[string]string{
			"describe_workflow": `{"name":"NAME"}`, "execute": `{"name":"NAME"}`,
			"save_to_library draft": `{"draft_name":"NAME","final_name":"x","description":"d"}`, "save_to_library final": `{"draft_name":"plain","final_name":"NAME","description":"d"}`,
		} {
			tool, _, _ = strings.Cut(tool, " ")
			r := c.result(tool, strings.Replace(arguments, "NAME", name, 1))
			if e := r.Get("error"); e.Get("type").Str != "security_error" || !strings.HasPrefix(e.Get("message").Str, "SecurityError") || strings.Contains(e.Get("message").Str, name) {
				t.Errorf("%s of %s answers %s", tool, name, r.Raw)
			}
		}
	}
	c.leave()
}

// What changes between two calls of one session is seen by the second.
func TestEveryCallLooksAnew(t *testing.T) {
	t.Parallel()
	p := githubHome(t)
	c := p.connect("pflow-serve")
	see := func() string {
		_, found := c.result("browse_components", `{"query":"github"}`).Get(`nodes.#(type=="github")`).Value().(map[string]any)
		return fmt.Sprint(sorted(c.result("list_library", `{}`), "workflows.#.name"), found, c.result("execute", `{"name":"w"}`).Get("outputs.last"))
	}
	p.draft("w", chain("echo one"))
	before := see()
	p.draft("w", chain("echo two"))
	p.saved("other", chain("echo x"))
	if err := os.Remove(filepath.Join(p.home, "registry.json")); err != nil {
		t.Fatal(err)
	}
	if after := see(); before != "[] true one" || after != "[other] false two" {
		t.Errorf("first %s, then %s", before, after)
	}
	c.leave()
}

// Twenty runs of one workflow at once, in one session, each with its own values.
func TestConcurrentExecutionsAreApart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", `{"inputs":{"n":{"type":"integer"}},"nodes":[{"id":"a","type":"shell","params":{"command":"echo ${n}"}}],"outputs":{"n":{"source":"${a.stdout}"}}}`)
	c := p.connect("pflow-serve")
	const calls = 20
	want := map[float64]string{}
	for n := range calls {
		want[float64(c.request("execute", fmt.Sprintf(`{"name":"w","inputs":{"n":%d}}`, n)))] = fmt.Sprint(n)
	}
	runs := map[string]bool{}
	for range calls {
		m := gjson.Parse(toJSON(c.receive()))
		r := m.Get("result.structuredContent")
		if r.Get("outputs.n").Str != want[m.Get("id").Num] || runs[r.Get("run_id").Str] {
			t.Errorf("call %s is answered with %s", m.Get("id"), r.Raw)
		}
		runs[r.Get("run_id").Str] = true
	}
	c.leave()
}

func TestInterruptEndsTheServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.connect("pflow-serve")
	c.result("list_library", `{}`)
	_ = c.cmd.Process.Signal(syscall.SIGINT)
	if _ = c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("the server ends with %v", c.cmd.ProcessState)
	}
}

// The runs of a node that is a secret's neighbour: the debug log has the commands, and not the values.
func TestLogsHaveCommandsAndNoValues(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", `{"inputs":{"password":{"type":"string"}},"nodes":[{"id":"a","type":"shell","params":{"command":"true","env":{"P":"${password}"}}}]}`)
	c := p.connect("pflow-serve", "--log-level", "debug")
	c.result("execute", `{"name":"w","inputs":{"password":"canary-of-the-log"}}`)
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	if log := c.stderr.Bytes(); !bytes.Contains(log, []byte("start")) || bytes.Contains(log, []byte("canary-of-the-log")) {
		t.Errorf("the log is %s", log)
	}
}

// A draft that is no JSON is a fault with a place, for every tool that reads it.
func TestABrokenFileIsAFaultWithAPlace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("broken", `{"nodes": [`)
	c := p.connect("pflow-serve")
	for tool, arguments := range map[string]string{
		"execute": `{"name":"broken"}`, "describe_workflow": `{"name":"broken"}`, "save_to_library": `{"draft_name":"broken","final_name":"x","description":"d"}`,
	} {
		if e := c.result(tool, arguments).Get("error"); e.Get("type").Str != "validation_error" || e.Get("line").Int() != 1 {
			t.Errorf("%s answers %s", tool, e.Raw)
		}
	}
	c.leave()
}
