package runner

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// three is a chain of three nodes that leave their names. b fails the first time that it runs, which an edge takes.
const three = `{"nodes":[
	{"id":"a","type":"shell","params":{"command":"echo a >> ran"}},
	{"id":"b","type":"shell","params":{"command":"echo b >> ran; test -e mended || { touch mended; exit 1; }"}},
	{"id":"c","type":"shell","params":{"command":"echo c >> ran"}},
	{"id":"help","type":"shell","params":{"command":"echo help >> ran"}}],
	"edges":[{"from":"a","to":"b"},{"from":"b","to":"c"},{"from":"b","to":"help","action":"error"}]}`

// ran returns what has run since the last call.
func (p *place) ran() string {
	p.Helper()
	text := p.read("ran")
	p.write("ran", "")
	return text
}

func (p *place) executed(r *Request, err error) *event.Event {
	p.Helper()
	p.check(err)
	l, err := Resolve(p.Context(), p.Host, r)
	p.check(err)
	if l.Attach != "" {
		p.Fatalf("attached to %s", l.Attach)
	}
	last, err := l.Execute(p.Context(), Observer{})
	p.check(err)
	return last
}

// A run that was killed before it had taken over what it goes on from does what was asked of it when it is resumed.
func TestWhatWasAskedSurvives(t *testing.T) {
	p := newPlace(t)
	path := p.write("w.json", three)
	first := p.executed(p.load(Source{Workflow: path}))
	if first.Status != event.Degraded || p.ran() != "a\nb\nhelp\n" {
		t.Fatalf("%+v", first)
	}
	for _, c := range []struct {
		again event.Again
		ran   string
	}{
		{event.Again{RetryFailed: true}, "b\nc\n"},
		{event.Again{From: "c"}, "c\n"},
		{event.Again{Only: "help"}, "help\n"},
	} {
		before, err := journal.Find(p.Home, "last")
		p.check(err)
		killed, err := journal.Create(p.Home, journal.Options{Definition: []byte(three), ResumedFrom: before.ID})
		p.check(err)
		p.check(killed.Append(&event.Event{
			Event: event.RunStarted, Workflow: &event.Workflow{Name: "w.json", Path: path}, ResumedFrom: before.ID, Again: &c.again,
		}))
		killed.Close()
		last := p.executed(LoadRun(p.Host, killed.ID, Inputs{}, Options{Dir: p.dir, Jobs: 1}))
		if got := p.ran(); last.Status != event.Completed || got != c.ran {
			t.Errorf("%+v: %s, %q ran, want %q", c.again, last.Status, got, c.ran)
		}
		rec, err := journal.Find(p.Home, last.Run)
		p.check(err)
		started, _, err := rec.FirstAndLast()
		p.check(err)
		if started.Again == nil || *started.Again != c.again {
			t.Errorf("%+v: %+v", c.again, started.Again)
		}
	}
}

func TestTheRunToTakeTheOthersFrom(t *testing.T) {
	p := newPlace(t)
	path := p.write("w.json", three)
	other := p.write("other.json", three)
	_, err := p.load(Source{Workflow: path, From: "b"})
	if f := fault.From(err); f.Type != fault.NotFound {
		t.Errorf("%+v", f)
	}
	run := p.executed(p.load(Source{Workflow: path})).Run
	p.executed(p.load(Source{Workflow: other}))
	r, err := p.load(Source{Workflow: path, From: "b"})
	p.check(err)
	if r.Resume != run || r.Only != "" {
		t.Errorf("%+v", r)
	}
	if err := p.wrong(Source{Workflow: path, From: "b", Only: "c"}); err.Type != fault.Usage {
		t.Errorf("%+v", err)
	}
	file := filepath.Join(p.dir, "run.ndjson")
	if err := p.wrong(Source{Workflow: path, From: "b", Checkpoint: &file}); err.Type != fault.Usage {
		t.Errorf("%+v", err)
	}
	if err := p.wrong(Source{Workflow: path, From: "d"}); err.Type != fault.NotFound || !slices.Equal(err.Available, []string{"a", "b", "c", "help"}) {
		t.Errorf("%+v", err)
	}
	if err := p.wrong(Source{Workflow: path, From: "c"}); err.Type != fault.Usage || err.Node != "c" {
		t.Errorf("%+v", err)
	}
	if err := p.wrong(Source{Workflow: path, From: "help"}); err.Type != "" { // it ran, after the failure of b
		t.Errorf("%+v", err)
	}
}

// wrong returns the fault of a source, or one without a type.
func (p *place) wrong(s Source) *fault.Fault {
	p.Helper()
	if _, err := p.resolve(s); err != nil {
		return fault.From(err)
	}
	return &fault.Fault{}
}
