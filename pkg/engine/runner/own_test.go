package runner

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// homeFile writes a workflow of the home, in its folder of drafts or of saved workflows.
func (p *place) homeFile(folder, name, text string) string {
	p.Helper()
	dir := filepath.Join(p.Home.Dir(), folder)
	p.check(os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, name+".json")
	p.check(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A workflow of the home goes on from its own runs, also under the name that it was saved under, and from no other's.
func TestResumeOfAnotherWorkflowsRun(t *testing.T) {
	t.Parallel()
	const other = `{"nodes": [{"id": "else", "type": "shell", "params": {"command": "echo"}}]}`
	const mended = `{"nodes": [{"id": "first", "type": "shell", "params": {"command": "echo one"}}, {"id": "third", "type": "shell", "params": {"command": "echo three"}}]}`
	for name, c := range map[string]struct {
		// run is what the run to go on from runs, resumed is what goes on from it.
		run, resumed func(p *place) string
		meanwhile    func(p *place)
		refused      bool
	}{
		"its own name":    {draftOf("report", twice), draftOf("report", mended), nil, false},
		"another name":    {draftOf("report", twice), draftOf("copy", twice), nil, true},
		"its saved name":  {draftOf("report", twice), savedAs("line-report", mended), dropDraft("report"), false},
		"another's name":  {draftOf("report", twice), draftOf("other", other), dropDraft("report"), true},
		"a draft by path": {pathOf("report", twice), draftOf("report", mended), nil, false},
		"a file":          {fileOf("w.json", twice), draftOf("report", mended), nil, false},
		"another file":    {fileOf("w.json", twice), draftOf("other", other), nil, true},
		"a file's copy":   {fileOf("w.json", twice), fileOf("mended.json", mended), nil, false},
		"a file from one": {draftOf("report", twice), fileOf("mended.json", mended), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			run := p.run(Source{Workflow: c.run(p)}).Run
			if c.meanwhile != nil {
				c.meanwhile(p)
			}
			l, err := p.resolve(Source{Workflow: c.resumed(p), Resume: run})
			if c.refused {
				isFault(t, err, fault.Usage, run, p.started(run).Workflow.Name)
				return
			}
			p.check(err)
			if l.origin == nil || l.origin.ID != run {
				t.Errorf("goes on from %v", l.origin)
			}
		})
	}
}

// A live run is one of its own workflow too.
func TestAttachToAnotherWorkflowsRun(t *testing.T) {
	t.Parallel()
	const slow = `{"nodes": [{"id": "first", "type": "shell", "params": {"command": "sleep 30"}}]}`
	p := newPlace(t)
	run := p.detach(Source{Workflow: draftOf("report", slow)(p)})
	p.await(run, "node_started first")
	_, err := p.resolve(Source{Workflow: draftOf("copy", slow)(p), Resume: run.ID})
	isFault(t, err, fault.Usage, run.ID, "report")
	dropDraft("report")(p)
	l, err := p.resolve(Source{Workflow: savedAs("line-report", slow)(p), Resume: run.ID})
	p.check(err)
	if l.Attach != run.ID {
		t.Errorf("attaches to %q", l.Attach)
	}
	_, _, err = Cancel(p.Context(), p.Home, run.ID)
	p.check(err)
}

// A live run is waited for also if the file of its workflow is broken or gone.
func TestAttachWithoutTheWorkflow(t *testing.T) {
	t.Parallel()
	const slow = `{"nodes": [{"id": "first", "type": "shell", "params": {"command": "sleep 30"}}]}`
	p := newPlace(t)
	run := p.detach(Source{Workflow: draftOf("report", slow)(p)})
	p.await(run, "node_started first")
	for _, spoil := range []func(p *place){func(p *place) { draftOf("report", `{"nodes": [`)(p) }, dropDraft("report")} {
		spoil(p)
		l, err := p.resolve(Source{Workflow: "report", NameOnly: true, Resume: run.ID})
		p.check(err)
		if l.Attach != run.ID {
			t.Errorf("attaches to %q", l.Attach)
		}
		if _, err := p.resolve(Source{Workflow: "other", NameOnly: true, Resume: run.ID}); err == nil {
			t.Error("another name attaches")
		}
	}
	_, _, err := Cancel(p.Context(), p.Home, run.ID)
	p.check(err)
	for run.Held() { // its process has not quite ended
		runtime.Gosched()
	}
	if l, err := p.resolve(Source{Workflow: "report", NameOnly: true, Resume: run.ID}); err != nil || l.Attach != "" || !l.request.Stored {
		t.Errorf("got %v, want the cancelled run to go on as it was", err)
	}
}

// The result of a run that has nothing to do is had also if the file of its workflow is gone.
func TestTheResultWithoutTheWorkflow(t *testing.T) {
	t.Parallel()
	const inputs = `"inputs": {"n": {"type": "int", "default": 1}}, `
	for name, c := range map[string]struct {
		text     string
		inputs   Inputs
		answers  map[string]engine.Answer
		broken   bool
		attaches bool
	}{
		"broken":        {text: `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "true"}}]}`, broken: true},
		"succeeded":     {text: `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "true"}}]}`, attaches: true},
		"the same":      {text: `{` + inputs + `"nodes": [{"id": "a", "type": "shell", "params": {"command": "true"}}]}`, inputs: values("n", "1"), attaches: true},
		"another input": {text: `{` + inputs + `"nodes": [{"id": "a", "type": "shell", "params": {"command": "true"}}]}`, inputs: values("n", "2")},
		"paused":        {text: asking, attaches: true},
		"answered":      {text: asking, answers: map[string]engine.Answer{"a": {Text: "yes"}}},
		"failed":        {text: `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "false"}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			run := p.run(Source{Workflow: draftOf("report", c.text)(p)}).Run
			if dropDraft("report")(p); c.broken {
				draftOf("report", `{"nodes": [`)(p)
			}
			r, err := Load(p.Host, Source{Workflow: "report", NameOnly: true, Resume: run, Inputs: c.inputs}, Options{Dir: p.dir, Jobs: 1, Answers: c.answers})
			var l *Launch
			if err == nil {
				l, err = Resolve(p.Context(), p.Host, r)
			}
			if attached := err == nil && l.Attach == run; attached != c.attaches {
				t.Errorf("attaches: %t, %v", attached, err)
			}
		})
	}
}

func draftOf(name, text string) func(p *place) string {
	return func(p *place) string { p.homeFile("workflows", name, text); return name }
}

func savedAs(name, text string) func(p *place) string {
	return func(p *place) string { p.homeFile("library", name, text); return name }
}

func pathOf(name, text string) func(p *place) string {
	return func(p *place) string { return p.homeFile("workflows", name, text) }
}

func fileOf(name, text string) func(p *place) string {
	return func(p *place) string { return p.write(name, text) }
}

func dropDraft(name string) func(p *place) {
	return func(p *place) { p.check(os.Remove(filepath.Join(p.Home.Dir(), "workflows", name+".json"))) }
}
