package suite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// resumable is a workflow that fails in its last node, and whose parts can be changed.
const resumable = `{"inputs":{"n":{"type":"string","default":"old"}},"nodes":[
	{"id":"a","type":"shell","params":{"command":"echo a ${n}"}},
	{"id":"b","type":"workflow","params":{"workflow":"INNER"}},
	{"id":"c","type":"shell","params":{"command":"echo c; exit 1"}}],
	"edges":[{"from":"a","to":"b"},{"from":"b","to":"c"}]}`

// insideResumable is the workflow that it runs.
const insideResumable = `{"nodes":[{"id":"i","type":"shell","params":{"command":"echo i"}}]}`

// TestResumeTakesTheWorkflowAsItIsNow has a row for each way to name a workflow, and a column for each thing that can happen to it between
// a run and its resume.
func TestResumeTakesTheWorkflowAsItIsNow(t *testing.T) {
	t.Parallel()
	type changed struct {
		// edit changes the workflow's text; remove removes its file.
		edit, editInner []string
		remove          bool
		// exit, ran and warns are of the resume: its exit status, the nodes that it executes, and words on standard error.
		exit  int
		ran   []string
		warns []string
		// asItWas is the exit status of a resume with --as-it-was after that; 0 if it has nothing to do.
		asItWas int
	}
	for column, c := range map[string]changed{
		"unchanged":          {exit: 1, ran: []string{"c"}, asItWas: 1},
		"a node":             {edit: []string{"exit 1", "exit 0"}, exit: 0, ran: []string{"c"}, warns: []string{"as it is now: node c has changed since r"}},
		"a sub-workflow":     {editInner: []string{"echo i", "echo j"}, exit: 1, ran: []string{"b", "b/i", "c"}, warns: []string{"node i has changed in"}, asItWas: 1},
		"a default":          {edit: []string{`"old"`, `"new"`}, exit: 1, ran: []string{"a", "b", "b/i", "c"}, warns: []string{"inputs has changed"}, asItWas: 1},
		"broken":             {edit: []string{`"edges"`, `edges"`}, exit: 2, warns: []string{"--as-it-was"}, asItWas: 1},
		"wrong":              {edit: []string{`"shell"`, `"shel"`}, exit: 2, warns: []string{"shel", "--as-it-was"}, asItWas: 1},
		"another workflow":   {edit: []string{`"a"`, `"x"`, `"b"`, `"y"`, `"c"`, `"z"`}, exit: 2, warns: []string{"no node in common", "--as-it-was"}, asItWas: 1},
		"gone":               {remove: true, exit: 1, ran: []string{"c"}, warns: []string{"goes on with the workflow that it began with"}, asItWas: 1},
		"a note for people":  {edit: []string{`{"inputs"`, `{"description":"New.","inputs"`}, exit: 1, ran: []string{"c"}, asItWas: 1},
		"a node that is new": {edit: []string{`"nodes":[`, `"nodes":[{"id":"d","type":"shell","params":{"command":"echo d"}},`, `"edges":[`, `"edges":[{"from":"a","to":"d"},`}, exit: 1, ran: []string{"c", "d"}, warns: []string{"node d is new", "edges has changed"}, asItWas: 1},
	} {
		for row, names := range map[string][3]string{ // how the workflow is named, its file, and that of the inner one
			"a file":           {"w.json", "w.json", "inner.json"},
			"a saved workflow": {"w", "home/library/w.json", "home/library/inner.json"},
			"a draft":          {"w", "home/workflows/w.json", "home/workflows/inner.json"},
			"standard input":   {"-", "w.json", "inner.json"},
		} {
			t.Run(row+", "+column, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				inner := "inner"
				if row == "a file" || row == "standard input" {
					inner = "./inner.json"
				}
				text := strings.ReplaceAll(resumable, "INNER", inner)
				p.write(names[1], text)
				p.write(names[2], insideResumable)
				c := c
				if row == "standard input" { // nothing of it can have changed
					c.exit, c.ran, c.warns, c.asItWas = 1, []string{"c"}, []string{"it came from standard input"}, 1
				}
				first := p.fed(text, "pflow-exec", "run", names[0])
				if first.exit != 1 {
					t.Fatalf("the first run ends with %s, want exit status 1", first)
				}
				p.write(names[1], strings.NewReplacer(c.edit...).Replace(text))
				p.write(names[2], strings.NewReplacer(c.editInner...).Replace(insideResumable))
				if c.remove {
					if err := os.Remove(filepath.Join(p.dir, names[1])); err != nil {
						t.Fatal(err)
					}
				}
				o := p.run("pflow-exec", "resume", "last")
				if o.exit != c.exit {
					t.Fatalf("got %s, want exit status %d", o, c.exit)
				}
				if got := executed(o.stdout); !slices.Equal(slices.Sorted(slices.Values(got)), c.ran) {
					t.Errorf("nodes %q ran, want %q: %s", got, c.ran, o)
				}
				for _, words := range c.warns {
					if !strings.Contains(o.stderr, words) {
						t.Errorf("standard error has no %q: %s", words, o.stderr)
					}
				}
				if len(c.warns) == 0 && strings.Contains(o.stderr, "warning") {
					t.Errorf("got a warning, want none: %s", o.stderr)
				}
				id := gjson.Get(first.stdout, "run").Str
				if o := p.run("pflow-exec", "resume", id, "--as-it-was"); o.exit != c.asItWas {
					t.Errorf("as it was: got %s, want exit status %d", o, c.asItWas)
				}
			})
		}
	}
}

// executed returns the nodes that began in a run, in order.
func executed(ndjson string) (nodes []string) {
	gjson.ForEachLine(ndjson, func(e gjson.Result) bool {
		if e.Get("event").Str == "node_started" {
			nodes = append(nodes, e.Get("node").Str)
		}
		return true
	})
	return nodes
}

// TestResumeOfARunThatSucceeded answers again while the workflow is the same, and goes on when it has changed.
func TestResumeOfARunThatSucceeded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo one"}}]}`)
	p.must("pflow-exec", "run", "w.json")
	p.must("pflow-exec", "resume", "last")
	if p.onlyRun() == "" {
		t.Error("an unchanged run that had succeeded went on, want its answer again")
	}
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo two"}}]}`)
	p.must("pflow-exec", "resume", "last", "--as-it-was")
	if p.onlyRun() == "" {
		t.Error("a run that had succeeded went on as it was, want its answer again")
	}
	if got := p.must("pflow-exec", "resume", "last", "--print", "a.stdout"); got != "two\n" {
		t.Errorf("got %q of the changed workflow, want two", got)
	}
}

// TestResumeKeepsWhatWasGiven holds that the values of inputs that were given, or came from the environment, are those of the run, and that
// those of settings and defaults are read anew.
func TestResumeKeepsWhatWasGiven(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const inputs = `{"inputs":{"given":{"type":"string","default":"old"},"STAGE":{"type":"string","default":"old"},"set":{"type":"string","default":"old"},"plain":{"type":"string","default":"old"}},
		"nodes":[{"id":"a","type":"shell","params":{"command":"echo ${given} ${STAGE} ${set} ${plain}; test -e ok"}}]}`
	p.write("w.json", inputs)
	p.write("home/settings.json", `{"vars":{"set":"one"}}`)
	cmd := p.command("pflow-exec", "run", "w.json", "given=here")
	cmd.Env = append(cmd.Env, "STAGE=prod")
	out, _ := cmd.Output()
	if got, want := gjson.GetBytes(out, "origins").Raw, `{"STAGE":"environment","given":"given","plain":"default","set":"vars"}`; got != want {
		t.Errorf("run_started has the origins %s, want %s", got, want)
	}
	p.write("w.json", strings.ReplaceAll(inputs, "old", "new"))
	p.write("home/settings.json", `{"vars":{"set":"two"}}`)
	p.write("ok", "")
	if got := p.must("pflow-exec", "resume", "last", "--print", "a.stdout"); got != "here prod two new\n" {
		t.Errorf("got %q, want here prod two new", got)
	}
	p.write("w.json", strings.ReplaceAll(inputs, "old", "newest"))
	o := p.run("pflow-exec", "resume", "last", "--format", "json")
	if got := gjson.Get(o.stdout, "outputs.a.stdout").Str; got != "here prod two newest" { // from the second run too
		t.Errorf("got %q of the second resume, want here prod two newest: %s", got, o)
	}
}

// TestResumeOfAnOlderRunReadsDefaultsAnew holds that a value which equals the default that a run has recorded counts as the default, if
// the run has not recorded where its values are from.
func TestResumeOfAnOlderRunReadsDefaultsAnew(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const inputs = `{"inputs":{"x":{"type":"string","default":"old"},"y":{"type":"string","default":"old"}},"nodes":[{"id":"a","type":"shell","params":{"command":"echo ${x} ${y}; test -e ok"}}]}`
	p.write("w.json", inputs)
	p.run("pflow-exec", "run", "w.json", "y=given")
	journal := p.journals()[0]
	name, err := filepath.Rel(p.dir, journal)
	if err != nil {
		t.Fatal(err)
	}
	text := p.read(name)
	p.write(name, strings.Replace(text, `"origins":`+gjson.Get(text, "origins").Raw+",", "", 1))
	p.write("w.json", strings.ReplaceAll(inputs, "old", "new"))
	p.write("ok", "")
	if got := p.must("pflow-exec", "resume", "last", "--print", "a.stdout"); got != "new given\n" {
		t.Errorf("got %q, want new given", got)
	}
}

// TestAnAnswerCountsForWhatWasAsked holds that an answer to a question counts as long as nothing before it has changed.
func TestAnAnswerCountsForWhatWasAsked(t *testing.T) {
	t.Parallel()
	const deploy = `{"nodes":[{"id":"build","type":"shell","params":{"command":"echo one"}},{"id":"deploy","type":"shell","approval":true,"params":{"command":"echo deployed"}},
		{"id":"after","type":"shell","params":{"command":"echo done"}}],"edges":[{"from":"build","to":"deploy"},{"from":"deploy","to":"after"}]}`
	for name, c := range map[string]struct {
		edit []string
		exit int
		why  string
	}{
		"unchanged":                {nil, 0, ""},
		"a node after it":          {[]string{"echo done", "echo finished"}, 0, ""},
		"a node before it":         {[]string{"echo one", "echo two"}, 4, "node build has run again since it asked"},
		"what would be run":        {[]string{"echo deployed", "echo removed"}, 4, "other parameters"},
		"what it asks":             {[]string{`"approval":true`, `"approval":{"question":"All?"}`}, 4, "asks"},
		"what would be run as was": {[]string{"echo deployed", "echo removed"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("w.json", deploy)
			if o := p.run("pflow-exec", "run", "w.json"); o.exit != 4 {
				t.Fatalf("got %s, want a question", o)
			}
			p.write("w.json", strings.NewReplacer(c.edit...).Replace(deploy))
			args := []string{"resume", "last", "--approve", "yes"}
			if strings.HasSuffix(name, "as was") {
				args = append(args, "--as-it-was")
			}
			o := p.run("pflow-exec", args...)
			if o.exit != c.exit || !strings.Contains(o.stderr, c.why) || c.exit == 4 && slices.Contains(executed(o.stdout), "deploy") {
				t.Errorf("got %s, want exit status %d and %q", o, c.exit, c.why)
			}
			if c.exit != 4 {
				return
			}
			if o := p.run("pflow-exec", "resume", "last", "--approve", "yes"); o.exit != 0 {
				t.Errorf("asked anew and answered: got %s, want exit status 0", o)
			}
		})
	}
}

// TestAsItWasHasItsSubWorkflows holds that a run which goes on as it was runs its sub-workflows as it has recorded them, also one that a
// template names, and also if they are gone; and that a change inside one is named.
func TestAsItWasHasItsSubWorkflows(t *testing.T) {
	t.Parallel()
	const inner = `{"nodes":[{"id":"q","type":"shell","params":{"command":"test -e go && echo one"}}],"outputs":{"v":{"source":"${q.stdout}"}}}`
	for how, ref := range map[string]string{"a literal name": `"./inner.json"`, "a saved name": `"kept"`, "a template": `"${which}"`} {
		for what, spoil := range map[string]func(p *place, file string){
			"changed": func(p *place, file string) { p.write(file, strings.ReplaceAll(inner, "one", "two")) },
			"gone": func(p *place, file string) {
				if err := os.Remove(filepath.Join(p.dir, file)); err != nil {
					t.Error(err)
				}
			},
		} {
			t.Run(how+", "+what, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				file := "inner.json"
				if how == "a saved name" {
					file = "home/library/kept.json"
				}
				p.write(file, inner)
				p.write("w.json", `{"inputs":{"which":{"default":"./inner.json"}},"nodes":[{"id":"s","type":"workflow","params":{"workflow":`+ref+`}}],"outputs":{"r":{"source":"${s.v}"}}}`)
				if o := p.run("pflow-exec", "run", "w.json"); o.exit != 1 {
					t.Fatalf("got %s, want exit status 1", o)
				}
				first := p.onlyRun()
				p.write("go", "")
				spoil(p, file)
				if got := p.must("pflow-exec", "resume", first, "--as-it-was", "--print", "r"); got != "one\n" {
					t.Errorf("as it was: got %q, want one", got)
				}
			})
		}
	}
}

// TestResumeOfAWorkflowOfASource is the row of TestResumeTakesTheWorkflowAsItIsNow for SOURCE:ID, whose workflow has one node that calls
// the source.
func TestResumeOfAWorkflowOfASource(t *testing.T) {
	t.Parallel()
	const sources = `{"sources":[{"name":"crm","list":["./crm","list"],"run":["./crm","run"],"status":["./crm","status"]}]}`
	for name, c := range map[string]struct {
		sources, program string
		exit             int
		runs             int
		warns            string
	}{
		"unchanged": {sources, "exit 1", 1, 2, ""},
		"corrected": {sources, `case $1 in run) echo '{"execution_id":"e"}';; status) echo '{"status":"completed","result":1}';; esac`, 0, 2, ""},
		"gone":      {`{"sources":[]}`, "exit 1", 1, 2, "there is no source crm any more"},
		"broken":    {`{"sources":`, "exit 1", 2, 1, "serve.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/serve.json", sources)
			p.program("home/crm", "exit 1")
			if o := p.run("pflow-exec", "run", "crm:sync"); o.exit != 1 {
				t.Fatalf("got %s, want exit status 1", o)
			}
			p.write("home/serve.json", c.sources)
			p.program("home/crm", c.program)
			o := p.run("pflow-exec", "resume", "last")
			if o.exit != c.exit || !strings.Contains(o.stderr, c.warns) || len(p.journals()) != c.runs {
				t.Errorf("got %d runs and %s, want %d, exit status %d and %q", len(p.journals()), o, c.runs, c.exit, c.warns)
			}
			if c.exit == 0 {
				p.must("pflow-exec", "resume", "last")
				if n := len(p.journals()); n != c.runs {
					t.Errorf("a run that had succeeded went on: %d runs, want %d", n, c.runs)
				}
			}
		})
	}
}

// program writes a shell script that can be executed.
func (p *place) program(name, script string) {
	p.Helper()
	if err := os.Chmod(p.write(name, "#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		p.Fatal(err)
	}
}

// TestEveryDoorTakesTheWorkflowAsItIsNow corrects a node of a failed run's workflow and goes on by each door but the shell's resume.
func TestEveryDoorTakesTheWorkflowAsItIsNow(t *testing.T) {
	t.Parallel()
	const text = `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo a >> ran"}},{"id":"c","type":"shell","params":{"command":"echo c; exit 1"}}],"edges":[{"from":"a","to":"c"}]}`
	corrected := strings.ReplaceAll(text, "exit 1", "exit 0")
	for door, goOn := range map[string]func(p *place, run string) (status string){
		"a pipe": func(p *place, run string) string {
			return statusIn(p.fed(p.read("home/runs/"+run+"/journal.ndjson"), "pflow-exec", "run", "w", "--resume", "-").stdout)
		},
		"--resume": func(p *place, run string) string {
			return statusIn(p.run("pflow-exec", "run", "w", "--resume", run).stdout)
		},
		"--checkpoint": func(p *place, run string) string {
			p.write("run.ndjson", p.read("home/runs/"+run+"/journal.ndjson"))
			return statusIn(p.run("pflow-exec", "run", "w", "--checkpoint", "run.ndjson").stdout)
		},
		"execute": func(p *place, run string) string {
			c := p.connect("pflow-serve")
			defer c.leave()
			a, _ := c.call("execute", `{"name":"w","resume":"`+run+`"}`)
			status, _ := statusOf(a)
			return status
		},
		"run_resume": func(p *place, run string) string {
			p.env = append(p.env, "PFLOW_TOOLSETS=runs")
			c := p.connect("pflow-serve")
			defer c.leave()
			a, _ := c.call("run_resume", `{"run_id":"`+run+`"}`)
			status, _ := statusOf(a)
			return status
		},
		"HTTP": func(p *place, run string) string {
			d := p.open("--toolsets", "core")
			return d.content("execute", `{"name":"w","resume":"`+run+`"}`).Get("status").Str
		},
	} {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/workflows/w.json", text)
			if o := p.run("pflow-exec", "run", "w"); o.exit != 1 {
				t.Fatalf("got %s, want exit status 1", o)
			}
			p.write("home/workflows/w.json", corrected)
			if got := goOn(p, p.onlyRun()); got != "completed" {
				t.Errorf("the corrected workflow ends as %q, want completed", got)
			}
			if got := p.read("ran"); got != "a\n" {
				t.Errorf("node a ran as %q, want once", got)
			}
		})
	}
}

// statusIn returns the status in the last event of a run.
func statusIn(ndjson string) (status string) {
	gjson.ForEachLine(ndjson, func(e gjson.Result) bool {
		if e.Get("event").Str == "run_finished" {
			status = e.Get("status").Str
		}
		return true
	})
	return status
}
