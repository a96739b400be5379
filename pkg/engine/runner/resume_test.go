package runner

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// twice fails in its second node unless the file "ok" is there.
const twice = `{"nodes": [
		{"id": "first", "type": "shell", "params": {"command": "echo one"}},
		{"id": "second", "type": "shell", "params": {"command": "cat ok ${first.stdout}"}}]}`

// What --resume names: a run, or a stream of events that may be a prefix of a run's journal, or belong to no run here.
func TestOriginOfARequest(t *testing.T) {
	p := newPlace(t)
	p.write("one", "")
	path := p.write("w.json", twice)
	old := p.run(Source{Workflow: path}).Run
	lines := bytes.SplitAfter(p.journal(old), []byte("\n"))
	whole := string(p.journal(old))
	prefix := string(bytes.Join(lines[:len(lines)-3], nil)) // without the second node's events
	id := func(text string) string { return strings.ReplaceAll(text, old, "r"+strings.Repeat("0", 26)) }
	p.Open = func(name string) (io.ReadCloser, error) {
		if name != "-" {
			t.Errorf("%s is read as a stream", name)
		}
		return io.NopCloser(strings.NewReader(whole)), nil
	}
	for name, c := range map[string]struct {
		resume string
		// origin is the run that the request goes on from, and fork is set if it is not superseded.
		origin string
		fork   bool
		would  engine.Intent
	}{
		"an id":                     {old, old, false, engine.WouldReuse},
		"a prefix of an id":         {old[:20], old, false, engine.WouldReuse},
		"the last run":              {"last", old, false, engine.WouldReuse},
		"a file":                    {p.write("whole", whole), old, false, engine.WouldReuse},
		"standard input":            {"-", old, false, engine.WouldReuse},
		"a prefix of a journal":     {p.write("prefix", prefix), old, false, engine.WouldReuse},
		"a torn line":               {p.write("torn", prefix+`{"v":1,"seq":`), old, false, engine.WouldReuse},
		"an error behind it":        {p.write("behind", prefix+`{"success":false,"error":{}}`+"\n"), old, false, engine.WouldReuse},
		"events that differ":        {p.write("differ", strings.Replace(whole, `"one"`, `"two"`, 1)), old, true, engine.WouldReuse},
		"only run_started":          {p.write("started", string(lines[0])), old, false, engine.WouldReuse},
		"events of a run elsewhere": {p.write("foreign", id(whole)), "", false, engine.WouldReuse},
		"no events of this workflow": {
			p.write("other", id(strings.ReplaceAll(string(lines[0]), `"first"`, `"third"`))), "", false, engine.WouldRun,
		},
	} {
		l, err := p.resolve(Source{Workflow: path, Resume: c.resume})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		origin := ""
		if l.origin != nil {
			origin = l.origin.ID
		}
		d, err := l.DryRun(t.Context())
		if err != nil || origin != c.origin || l.fork != c.fork || d.Nodes[0].Would != c.would {
			t.Errorf("%s: origin %q, fork %t, %+v %v", name, origin, l.fork, d, err)
		}
		l.Release() // another launch can have the run then
	}
	for name, want := range map[string]fault.Type{
		"nothing": fault.NotFound, "..": fault.Security, p.write("empty", ""): fault.Usage,
		p.write("two", whole+id(whole)): fault.Usage,
	} {
		_, err := p.resolve(Source{Workflow: path, Resume: name})
		isFault(t, err, want)
	}
}

// Of two that go on from one run, the second goes on from the first. Events that are not the run's supersede nothing.
func TestWhatARunSupersedes(t *testing.T) {
	p := newPlace(t)
	path := p.write("w.json", twice)
	p.write("one", "")
	old := p.run(Source{Workflow: path})
	if old.Status != event.Failed {
		t.Fatal(old.Status)
	}
	forked := p.run(Source{Workflow: path, Resume: p.write("differ", strings.Replace(string(p.journal(old.Run)), `"one"`, `"two"`, 1))})
	if got := p.find(old.Run).LastSuccessor().ID; got != old.Run || forked.Run == old.Run {
		t.Errorf("%s supersedes %s", got, old.Run)
	}
	second := p.run(Source{Workflow: path, Resume: old.Run})
	p.write("ok", "")
	third := p.run(Source{Workflow: path, Resume: old.Run})
	if got := p.find(old.Run).LastSuccessor().ID; got != third.Run || third.Status != event.Completed {
		t.Errorf("%s %s, want %s", got, third.Status, third.Run)
	}
	if got := p.started(third.Run).ResumedFrom; got != second.Run {
		t.Errorf("it was resumed from %s, want %s", got, second.Run)
	}
}

// started returns a run's first event.
func (p *place) started(run string) *event.Event {
	p.Helper()
	first, _, err := p.find(run).FirstAndLast()
	p.check(err)
	return first
}

const asking = `{"nodes": [
	{"id": "a", "type": "echo", "approval": true},
	{"id": "b", "type": "echo", "approval": {"question": "Which?", "choices": ["red", "blue"]}}],
	"edges": []}`

func TestAnAnswerFitsAQuestion(t *testing.T) {
	p := newPlace(t)
	path := p.write("w.json", asking)
	asked := p.run(Source{Workflow: path})
	if asked.Status != event.Paused {
		t.Fatal(asked.Status)
	}
	resolve := func(run, answer string) (*Launch, error) {
		r, err := LoadRun(p.Host, run, Inputs{}, Options{Answer: answer})
		p.check(err)
		l, err := Resolve(t.Context(), p.Host, r)
		if err == nil {
			p.Cleanup(l.Release)
			l.Release()
		}
		return l, err
	}
	for _, answer := range []string{"", "yes", "no", "red", "blue"} {
		if _, err := resolve(asked.Run, answer); err != nil {
			t.Errorf("%q: %v", answer, err)
		}
	}
	for _, answer := range []string{"Yes", "green", "red "} {
		_, err := resolve(asked.Run, answer)
		isFault(t, err, fault.Usage, asked.Run, answer)
		if f := fault.From(err); len(f.Suggestions) != 1 || !strings.Contains(f.Suggestions[0], "red, blue") || !strings.Contains(f.Suggestions[0], "yes, no") {
			t.Errorf("%q", f.Suggestions)
		}
	}
	l, err := resolve(asked.Run, "yes")
	p.check(err)
	answered, err := l.Execute(t.Context(), Observer{})
	p.check(err)
	_, err = resolve(answered.Run, "yes") // which is answered by now
	isFault(t, err, fault.Usage, "yes")
	p.check(os.Remove(path))
	failed := p.run(Source{Workflow: p.write("w.json", twice)})
	_, err = resolve(failed.Run, "yes")
	isFault(t, err, fault.Usage, failed.Run)
}

const secretive = `{"inputs": {"token": {"type": "string", "secret": true}, "spare": {"type": "string", "secret": true, "default": "spare-value"}, "plain": {"type": "string"}},
	"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo ${plain} | wc -c; echo ${token} ${spare} > said; cat ok"}}]}`

// A run keeps no secrets. One that goes on from it takes them from where they can be had.
func TestSecretsOfAResumedRun(t *testing.T) {
	p := newPlace(t)
	p.write("w.json", secretive)
	failed := p.run(Source{Workflow: filepath.Join(p.dir, "w.json"), Inputs: values("token", "hunter22", "plain", "word")})
	if journal := p.journal(failed.Run); bytes.Contains(journal, []byte("hunter22")) || bytes.Contains(journal, []byte("spare-value")) {
		t.Errorf("%s", journal)
	}
	inputs := func(in Inputs) (map[string]string, error) {
		r, err := LoadRun(p.Host, failed.Run, in, Options{})
		if err != nil {
			return nil, err
		}
		l, err := Resolve(t.Context(), p.Host, r)
		if err != nil {
			return nil, err
		}
		defer l.Release()
		got := map[string]string{}
		for name, v := range l.inputs {
			got[name] = string(v)
		}
		return got, nil
	}
	// The workflow has the default, but the run has stored it without.
	_, err := inputs(Inputs{})
	isFault(t, err, fault.Usage, failed.Run)

	p.write("w.json", strings.Replace(secretive, `"spare-value"`, `null`, 1))
	failed = p.run(Source{Workflow: filepath.Join(p.dir, "w.json"), Inputs: values("token", "hunter22", "plain", "word")})
	_, err = inputs(Inputs{})
	isFault(t, err, fault.Usage, failed.Run, `"token"`)
	if f := fault.From(err); !slices.Equal(f.Missing, []string{"token"}) {
		t.Errorf("%q", f.Missing)
	}
	check := func(from string, in Inputs, want string) {
		t.Helper()
		if got, err := inputs(in); err != nil || got["token"] != want || got["plain"] != `"word"` {
			t.Errorf("from %s: %q %v", from, got, err)
		}
	}
	check("the command line", values("token", "given"), `"given"`)
	p.check(p.Home.Write([]byte(`{"env": {"token": "set"}}`), 0o600, "settings.json"))
	check("the settings", Inputs{}, `"set"`)
	p.Env = append(p.Env, "token=exported")
	check("the environment", Inputs{}, `"exported"`)
}
