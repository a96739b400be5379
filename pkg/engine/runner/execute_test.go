package runner

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

const hello = `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo hello"}}], "outputs": {"said": {"source": "${a.stdout}"}}}`

// An observer hears the run's id before anything runs, and every line of its journal.
func TestObserver(t *testing.T) {
	p := newPlace(t)
	l, err := p.resolve(Source{Workflow: p.write("w.json", hello)})
	p.check(err)
	id, heard := "", ""
	last, err := l.Execute(t.Context(), Observer{
		Started: func(run string) error {
			id = run
			if events := p.events(run); !slices.Equal(events, []string{"run_started"}) {
				t.Errorf("there are events: %q", events)
			}
			return nil
		},
		Event:  func(line []byte) error { heard += string(line); return nil },
		Failed: func(err error) { t.Errorf("the journal cannot be read: %v", err) },
	})
	p.check(err)
	if last.Run != id || heard != string(p.journal(id)) || !strings.Contains(string(last.Outputs), "hello") {
		t.Errorf("%s %s\n%s", id, last.Outputs, heard)
	}
	if l, err = p.resolve(Source{Workflow: p.write("w.json", hello)}); err != nil {
		t.Fatal(err)
	}
	lines := 0
	var failure error
	failing := Observer{Event: func([]byte) error { lines++; return errFound }, Failed: func(err error) { failure = err }}
	if last, err = l.Execute(t.Context(), failing); err != nil || last.Status != event.Completed || lines != 1 || !errors.Is(failure, errFound) {
		t.Errorf("whose observer fails: %d lines, %v, %v", lines, failure, err)
	}
}

// Of a run that does not start nothing is left, and its key and the run that it would go on from are free again.
func TestNotStarted(t *testing.T) {
	p := newPlace(t)
	path, key := p.write("w.json", twice), "k"
	failed := p.run(Source{Workflow: path}).Run
	start := func(started func(string) error) error {
		l, err := p.resolve(Source{Workflow: path, Resume: failed, Key: &key})
		p.check(err)
		_, err = l.Execute(t.Context(), Observer{Started: started})
		return err
	}
	refused, ok := errors.AsType[*NotStartedError](start(func(string) error { return errFound }))
	if !ok || !errors.Is(refused, errFound) {
		t.Errorf("%v", refused)
	}
	if runs, err := journal.List(p.Home); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if got := p.find(failed).LastSuccessor().ID; got != failed {
		t.Errorf("%s has superseded it", got)
	}
	if err := start(nil); err != nil {
		t.Error(err)
	}

	other := newPlace(t)
	_, err := other.Home.Make()
	other.check(err)
	other.check(os.WriteFile(other.Home.Path("runs"), nil, 0o600))
	l, err := other.resolve(Source{Workflow: path})
	other.check(err)
	if _, err = l.Execute(t.Context(), Observer{}); !errors.As(err, &refused) {
		t.Errorf("without a folder for runs: %v", err)
	}
}

// A launch that is released can be resolved again by another process.
func TestReleaseFreesTheRun(t *testing.T) {
	p := newPlace(t)
	path, key := p.write("w.json", twice), "k"
	failed := p.run(Source{Workflow: path}).Run
	for range 2 {
		l, err := p.resolve(Source{Workflow: path, Resume: failed, Key: &key})
		p.check(err)
		if l.origin == nil || l.key == nil {
			t.Fatalf("%+v", l)
		}
		l.Release()
		l.Release()
	}
}
