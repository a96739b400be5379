package suite

import (
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// protocol configures and syncs a protocolServer as the server p. Its tools write a line into the file calls when they ask.
func (p *place) protocol(mode string, settings ...string) {
	p.Helper()
	self, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	args := []string{"add", "--force", "p", "--env", protocolServer + "=" + mode, "--env", "CALLS=" + p.dir + "/calls"}
	for _, setting := range settings {
		args = append(args, "--env", setting)
	}
	p.must("pflow-sync", append(args, "--", self)...)
	p.must("pflow-sync", "sync", "p")
}

const creates = `{"nodes":[{"id":"make","type":"mcp-p-create"},{"id":"after","type":"echo","params":{"data":"${make.result}"}}],"edges":[{"from":"make","to":"after"}],"outputs":{"said":{"source":"${after.data}"}}}`

// A tool whose server asks a person pauses the run. The tool is called again with the answer.
func TestAToolAsksAPerson(t *testing.T) {
	t.Parallel()
	for answer, said := range map[string]string{
		`{"repo":"a=b","private":true}`: `accept {"private":true,"repo":"a=b","stars":3}`, // with the default of the server's form
		"no":                            "decline null",
		"decline":                       "decline null",
		"cancel":                        "cancel null",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.protocol("stdio")
			p.write("w.json", creates)
			o := p.run("pflow-exec", "run", "w.json", "--format", "json")
			if f := gjson.Get(o.stdout, "error"); o.exit != 4 || f.Get("node").Str != "make" || !strings.Contains(f.Get("message").Str, "Which repository?") || f.Get("details.fields.make.properties.repo.type").Str != "string" {
				t.Fatal(o)
			}
			asked := gjson.Get(p.must("pflow-exec", "events", "last"), `..#(event=="approval_requested")`)
			if asked.Get("fields.properties.@keys").Raw != `["repo","private","stars"]` || asked.Get("choices").Raw != `["no","cancel"]` || !strings.Contains(asked.Get("question").Str, "Which repository?") {
				t.Errorf("asked %s", asked.Raw)
			}
			if shown := p.must("pflow-exec", "show", "last", "make", "--format", "json"); gjson.Get(shown, "fields.properties.@keys").Raw != `["repo","private","stars"]` {
				t.Errorf("shows %s", shown)
			}
			for wrong, c := range map[string]struct{ path, hint string }{
				`{"repo":"a","stars":"many"}`: {"stars", "integer"},
				`{"rep":"a"}`:                 {"", `"repo"`},
				`{}`:                          {"", "repo"},
				`perhaps`:                     {"", "perhaps"},
			} {
				o := p.run("pflow-exec", "resume", "last", "--approve", wrong, "--format", "json")
				if f := gjson.Get(o.stdout, "error"); o.exit != 2 || f.Get("type").Str != "usage_error" || f.Get("path").Str != c.path || !strings.Contains(f.Get("message").Str, c.hint) {
					t.Errorf("answered %s: %s", wrong, o)
				}
			}
			if calls := strings.Count(p.read("calls"), "called"); calls != 1 {
				t.Errorf("wrong answers called the tool %d times", calls-1)
			}
			o = p.run("pflow-exec", "resume", "last", "--approve", answer, "--format", "json")
			if o.exit != 0 || gjson.Get(o.stdout, "outputs.said").Str != said {
				t.Error(o)
			}
		})
	}
}

// A node whose server may ask cannot be answered before. The refusal says so, and that of a wrong name says which node waits.
func TestAToolIsAnsweredWhenItHasAsked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.protocol("stdio")
	p.write("w.json", creates)
	for flag, answer := range map[string]string{"--approve": `make={"repo":"a"}`, "--auto-approve": "make"} {
		o := p.run("pflow-exec", "run", "w.json", flag, answer, "--format", "json")
		if f := gjson.Get(o.stdout, "error"); o.exit != 2 || !strings.Contains(f.Get("message").Str, `"make"`) || !strings.Contains(f.Get("message").Str, "MCP server") || strings.Contains(f.Raw, "approval") {
			t.Error(o)
		}
	}
	if o := p.run("pflow-exec", "run", "w.json"); o.exit != 4 {
		t.Fatal(o)
	}
	for _, other := range []string{"zz", "after"} {
		o := p.run("pflow-exec", "resume", "last", "--approve", other+"=yes", "--format", "json")
		if f := gjson.Get(o.stdout, "error"); o.exit != 2 || f.Get("available").Raw != `["make"]` || strings.Contains(f.Get("suggestions").Raw, "Leave out") {
			t.Error(o)
		}
	}
}

// A server may ask again after the answer. What was answered is not asked again.
func TestAToolAsksTwice(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.protocol("stdio")
	p.write("w.json", `{"nodes":[{"id":"ask","type":"mcp-p-both"}],"outputs":{"said":{"source":"${ask.result}"}}}`)
	for i, c := range []struct {
		args []string
		exit int
		want string
	}{
		{[]string{"run", "w.json"}, 4, "First?"},
		{[]string{"resume", "last", "--approve", `ask={"text":"one"}`}, 4, "Second?"},
		{[]string{"resume", "last", "--approve", `ask={"text":"two"}`}, 0, "accept one, accept two"},
	} {
		o := p.run("pflow-exec", append(c.args, "--format", "json")...)
		if o.exit != c.exit || !strings.Contains(gjson.Get(o.stdout, "error.message").Str+gjson.Get(o.stdout, "outputs.said").Str, c.want) {
			t.Fatalf("%d: %s", i, o)
		}
	}
	if calls := strings.Count(p.read("calls"), "called"); calls != 3 {
		t.Errorf("the tool was called %d times", calls)
	}
}

// An answer with a secret is not recorded. If the run pauses after it, the secret is asked for again.
func TestAnAnswerWithASecretIsNotRecorded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const secret = "hunter2-hunter2"
	p.protocol("stdio", "TOKEN="+secret)
	p.write("w.json", `{"nodes":[{"id":"ask","type":"mcp-p-both"}],"outputs":{"length":{"source":"${ask.result}"}}}`)
	p.run("pflow-exec", "run", "w.json")
	if o := p.run("pflow-exec", "resume", "last", "--approve", `ask={"text":"`+secret+`"}`, "--format", "json"); o.exit != 4 || !strings.Contains(o.stdout, "Second?") {
		t.Fatal(o)
	}
	if o := p.run("pflow-exec", "resume", "last", "--approve", `ask={"text":"two"}`, "--format", "json"); o.exit != 4 || !strings.Contains(o.stdout, "First?") {
		t.Fatal(o)
	}
	if o := p.run("pflow-exec", "resume", "last", "--approve", `ask={"text":"`+secret+`"}`, "--format", "json"); o.exit != 0 || !strings.Contains(gjson.Get(o.stdout, "outputs.length").Str, "accept two") {
		t.Error(o)
	}
	if runs := p.must("pflow-exec", "list", "--format", "json"); strings.Contains(runs, secret) {
		t.Errorf("the list of runs has it: %s", runs)
	}
	cmd := p.command("pflow-exec")
	cmd.Path, cmd.Args, cmd.Err = "/bin/sh", []string{"sh", "-c", "grep -rl " + secret + " home/runs"}, nil
	if found, _ := cmd.Output(); len(found) > 0 {
		t.Errorf("the secret is in %s", found)
	}
}

// Calls of one server at the same time that all ask are told apart: each gets the answer to its own question.
func TestToolsAskAtTheSameTime(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.protocol("stdio")
	p.write("w.json", `{"nodes":[{"id":"a","type":"mcp-p-create"},{"id":"b","type":"mcp-p-create"},{"id":"c","type":"mcp-p-both"},{"id":"d","type":"mcp-p-count"}],
		"outputs":{"a":{"source":"${a.result}"},"b":{"source":"${b.result}"},"c":{"source":"${c.result}"},"d":{"source":"${d.result}"}}}`)
	o := p.run("pflow-exec", "run", "w.json", "--format", "json")
	if fields := gjson.Get(o.stdout, "error.details.fields.@keys"); o.exit != 4 || len(fields.Array()) != 3 {
		t.Fatal(o)
	}
	o = p.run("pflow-exec", "resume", "last", "--approve", `a={"repo":"A"}`, "--approve", `b={"repo":"B"}`, "--approve", `c={"text":"C"}`, "--format", "json")
	if o.exit != 4 || !strings.Contains(gjson.Get(o.stdout, "error.message").Str, "Second?") {
		t.Fatal(o)
	}
	o = p.run("pflow-exec", "resume", "last", "--approve", `c={"text":"CC"}`, "--format", "json")
	if got := gjson.Get(o.stdout, "outputs"); o.exit != 0 || !strings.Contains(got.Get("a").Str, `"A"`) || !strings.Contains(got.Get("b").Str, `"B"`) || got.Get("c").Str != "accept C, accept CC" || got.Get("d").Int() != 1 {
		t.Error(o)
	}
}

// An item of a batch cannot ask, so it fails.
func TestAnItemCannotAsk(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.protocol("stdio")
	p.write("w.json", `{"nodes":[{"id":"make","type":"mcp-p-create","batch":{"items":[1]}}]}`)
	if o := p.run("pflow-exec", "run", "w.json", "--format", "json"); o.exit != 1 || !strings.Contains(o.stdout, "Which repository?") {
		t.Error(o)
	}
}

// execute of pflow-serve returns the fields and takes an object.
func TestExecuteAsksForFields(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.protocol("stdio")
	p.draft("creating", creates)
	c := p.connect("pflow-serve")
	first, _ := c.call("execute", `{"name":"creating"}`)
	status, run := statusOf(first)
	fault, _ := first["error"].(map[string]any)
	details, _ := fault["details"].(map[string]any)
	fields, _ := details["fields"].(map[string]any)
	if status != "paused" || fields["make"] == nil {
		t.Fatalf("answers %v", first)
	}
	second, failed := c.call("execute", `{"name":"creating","resume":"`+run+`","answers":{"make":{"repo":"x","stars":5}}}`)
	outputs, _ := second["outputs"].(map[string]any)
	if said, _ := outputs["said"].(string); failed || said != `accept {"repo":"x","stars":5}` {
		t.Errorf("answers %v", second)
	}
	again, failed := c.call("execute", `{"name":"creating","resume":"`+run+`","answers":{"make":{"stars":5,"repo":"x"}}}`) // the same answer
	if status, _ := statusOf(again); failed || status != "completed" {
		t.Errorf("the same call answers %v", again)
	}
	c.leave()
}

// On a terminal the fields are asked for one by one, by runs and by call.
func TestFieldsAreAskedForOnATerminal(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"pflow-exec", "run", "w.json", "--quiet"}, {"pflow-sync", "call", "p", "create", "--quiet"}} {
		t.Run(command[0], func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.protocol("stdio")
			p.write("w.json", creates)
			s := p.session(p.command(command[0], command[1:]...), 200)
			s.show()
			asks := func(text, answer string) {
				t.Helper()
				s.eventually("it asks "+text, func() bool { return strings.Contains(strings.Join(s.lines(), "\n"), text) })
				s.types(answer + "\n")
			}
			asks("Answer?", "yes")
			asks("repo, its name:", "mine")
			asks("private [yes/no]:", "")
			asks("stars (3):", "-1")
			asks("at least 0", "7")
			_ = s.cmd.Wait()
			<-s.read
			if shown := strings.Join(s.lines(), "\n"); s.cmd.ProcessState.ExitCode() != 0 || !strings.Contains(shown, `accept {"repo":"mine","stars":7}`) && !strings.Contains(shown, `accept {\"repo\":\"mine\",\"stars\":7}`) {
				t.Error(shown)
			}
		})
	}
}

// Without a terminal, call takes its answers from the command line. Without an answer it shows the fields.
func TestACallIsAnswered(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.protocol("stdio")
	o := p.run("pflow-sync", "call", "p", "create")
	if f := gjson.Get(o.stdout, "error"); o.exit != 1 || f.Get("details.fields.required.0").Str != "repo" {
		t.Error(o)
	}
	if o := p.run("pflow-sync", "call", "p", "create", "--answer", `{"repo":1}`); o.exit != 2 || gjson.Get(o.stdout, "error.path").Str != "repo" {
		t.Error(o)
	}
	if o := p.run("pflow-sync", "call", "p", "both", "--answer", `{"text":"a"}`, "--answer", "no"); o.exit != 0 || !strings.HasPrefix(gjson.Get(o.stdout, "result").Str, "accept a, decline") {
		t.Error(o)
	}
}
