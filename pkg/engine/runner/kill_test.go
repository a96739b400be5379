package runner

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// blocking has a node that waits until something is written into the pipe "gate", between two that do not.
const blocking = `{"inputs": {"word": {"type": "string", "default": "hello"}},
	"nodes": [
		{"id": "before", "type": "shell", "params": {"command": "echo ${word}; echo before >> ran"}},
		{"id": "wait", "type": "shell", "params": {"command": "cat gate; echo wait >> ran"}},
		{"id": "after", "type": "shell", "params": {"command": "echo ${before.stdout} >> ran"}}],
	"edges": [{"from": "before", "to": "wait"}, {"from": "wait", "to": "after"}],
	"outputs": {"word": {"source": "${before.stdout}"}}}`

// startBlocking detaches a run and waits until its second node runs.
func startBlocking(p *place, s Source) *journal.Reader {
	p.Helper()
	p.check(syscall.Mkfifo(filepath.Join(p.dir, "gate"), 0o600))
	s.Workflow = p.write("w.json", blocking)
	rec := p.detach(s)
	p.await(rec, "node_started wait")
	return rec
}

// kill kills the process that executes a run.
func kill(p *place, rec *journal.Reader) {
	p.Helper()
	lock, err := os.ReadFile(p.Home.Path("runs", rec.ID, "lock"))
	p.check(err)
	pid, err := strconv.Atoi(string(bytes.TrimSpace(lock)))
	p.check(err)
	p.check(syscall.Kill(pid, syscall.SIGKILL))
	p.check(rec.Follow(p.Context(), func([]byte) error { return nil })) // until its lock is free
}

func TestAKilledRunIsResumed(t *testing.T) {
	p := newPlace(t)
	rec := startBlocking(p, Source{})
	kill(p, rec)
	if status, _, err := rec.Status(); err != nil || status != journal.Interrupted {
		t.Fatalf("%s %v", status, err)
	}
	p.check(os.Remove(filepath.Join(p.dir, "gate")))
	p.write("gate", "")

	r, err := LoadRun(p.Host, rec.ID, Inputs{}, Options{})
	p.check(err)
	l, err := Resolve(t.Context(), p.Host, r)
	p.check(err)
	if slices.Contains(process.EnvironmentValues(engine.RunVariable), rec.ID) {
		t.Error("a process of the killed run is left")
	}
	last, err := l.Execute(t.Context(), Observer{})
	p.check(err)
	if last.Status != event.Completed || last.Run == rec.ID {
		t.Errorf("%s %s", last.Run, last.Status)
	}
	want := []string{"run_started", "node_reused before", "node_started wait", "node_completed wait", "node_started after", "node_completed after", "run_finished"}
	if got := p.events(last.Run); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := p.read("ran"); got != "before\nwait\nhello\n" {
		t.Errorf("%q", got)
	}

	// Asked again, by either id: the run that has succeeded answers.
	for _, id := range []string{rec.ID, last.Run} {
		r, err := LoadRun(p.Host, id, Inputs{}, Options{})
		p.check(err)
		l, err := Resolve(t.Context(), p.Host, r)
		p.check(err)
		if l.Attach != last.Run {
			t.Errorf("%s: attached to %q, want %s", id, l.Attach, last.Run)
		}
	}
	// With other inputs it runs again.
	r, err = LoadRun(p.Host, rec.ID, values("word", "bye"), Options{})
	p.check(err)
	if l, err = Resolve(t.Context(), p.Host, r); err != nil || l.Attach != "" {
		t.Fatalf("%v %v", l, err)
	}
	if last, err = l.Execute(t.Context(), Observer{}); err != nil || *last.NodesExecuted != 3 {
		t.Errorf("%v %v", last, err)
	}
}

func TestALiveRunIsAttachedTo(t *testing.T) {
	p := newPlace(t)
	key, other := "deploy", "other"
	rec := startBlocking(p, Source{Key: &key, Inputs: values("word", "hi")})
	path := filepath.Join(p.dir, "w.json")

	attached := func(l *Launch, err error) {
		t.Helper()
		if err != nil || l.Attach != rec.ID {
			t.Errorf("%+v %v", l, err)
		}
	}
	resume := func(in Inputs) (*Launch, error) {
		r, err := LoadRun(p.Host, rec.ID, in, Options{})
		p.check(err)
		return Resolve(t.Context(), p.Host, r)
	}
	attached(p.resolve(Source{Workflow: path, Key: &key}))
	attached(p.resolve(Source{Workflow: path, Key: &key, Inputs: values("word", "hi")}))
	attached(p.resolve(Source{Workflow: path, Key: &key, DryRun: true}))
	attached(p.resolve(Source{Workflow: path, Resume: rec.ID}))
	attached(p.resolve(Source{Workflow: path, Resume: rec.ID, DryRun: true}))
	attached(p.resolve(Source{Workflow: path, Resume: p.write("events", string(p.journal(rec.ID)))}))
	attached(resume(Inputs{}))
	attached(resume(values("word", "hi")))
	r, err := p.load(Source{Workflow: path, Key: &key})
	p.check(err)
	if ack, err := Detach(p.Host, r, detached); err != nil || ack.RunID != rec.ID {
		t.Errorf("%+v %v", ack, err)
	}

	_, err = p.resolve(Source{Workflow: path, Key: &key, Inputs: values("word", "bye")})
	isFault(t, err, fault.Usage, rec.ID, `"word"`)
	_, err = resume(values("word", "bye"))
	isFault(t, err, fault.Usage, rec.ID, `"word"`)
	_, err = p.resolve(Source{Workflow: p.write("other.json", blocking), Key: &key})
	isFault(t, err, fault.Usage, rec.ID, path)

	l, err := p.resolve(Source{Workflow: path, Key: &other})
	if err != nil || l.Attach != "" {
		t.Errorf("another key: %+v %v", l, err)
	}
	gate, err := os.OpenFile(filepath.Join(p.dir, "gate"), os.O_WRONLY, 0)
	p.check(err)
	p.check(gate.Close())
	p.check(rec.Follow(t.Context(), func([]byte) error { return nil }))
	if status, _, err := rec.Status(); err != nil || status != event.Completed {
		t.Errorf("%s %v", status, err)
	}
	for rec.Held() { // its last event is written before its lock is free
		runtime.Gosched()
	}
	if l, err := p.resolve(Source{Workflow: path, Key: &key}); err != nil || l.Attach != "" {
		t.Errorf("the key of a run that has ended: %+v %v", l, err)
	}
}

// A run that has just begun is attached to once its first event says what it does.
func TestARunWithoutAnEventIsAttachedTo(t *testing.T) {
	p := newPlace(t)
	path, key := p.write("w.json", blocking), "k"
	l, err := p.resolve(Source{Workflow: path, Key: &key, Inputs: values("word", "hi")})
	p.check(err)
	w, claim, err := l.begin(Observer{})
	p.check(err)
	t.Cleanup(claim.Release)
	t.Cleanup(w.Close)
	attached := make(chan error)
	for _, word := range []string{"hi", "bye"} {
		r, err := p.load(Source{Workflow: path, Key: &key, Inputs: values("word", word)})
		p.check(err)
		go func() {
			l, err := Resolve(t.Context(), p.Host, r)
			if err == nil && l.Attach != w.ID {
				err = errors.New("attached to " + l.Attach)
			}
			attached <- err
		}()
	}
	select {
	case err := <-attached:
		t.Errorf("before the first event: %v", err)
	default:
	}
	p.check(w.Append(&event.Event{Event: event.RunStarted, Workflow: &event.Workflow{Name: path, Path: path}, Inputs: []byte(`{"word":"hi"}`)}))
	refusals := 0
	for range 2 {
		if err := <-attached; err != nil {
			refusals++
			isFault(t, err, fault.Usage, w.ID, `"word"`)
		}
	}
	if refusals != 1 {
		t.Errorf("%d of them were refused", refusals)
	}
}

// Of a request that another process refuses, the fault comes back.
func TestADetachedProcessRefuses(t *testing.T) {
	p := newPlace(t)
	r, err := p.load(Source{Workflow: p.write("w.json", blocking)})
	p.check(err)
	r.Source = []byte(`{"nodes": []}`)
	ack, err := Detach(p.Host, r, detached)
	p.check(err)
	if ack.Error == nil || ack.RunID != "" {
		t.Fatalf("%+v", ack)
	}
	isFault(t, ack.Error, fault.Validation)
	if runs, err := journal.List(p.Home); err != nil || len(runs) > 0 {
		t.Errorf("%v %v", runs, err)
	}
	if _, err := Detach(p.Host, r, "-test.list=^$"); err == nil { // a program that does not serve
		t.Error("no error")
	}
}

func TestCancelEndsARun(t *testing.T) {
	p := newPlace(t)
	rec := startBlocking(p, Source{})
	for range 2 { // the second time it has ended
		id, status, err := Cancel(t.Context(), p.Home, "last")
		if err != nil || id != rec.ID || status != event.Cancelled {
			t.Errorf("%s %s %v", id, status, err)
		}
	}
	if slices.Contains(process.EnvironmentValues(engine.RunVariable), rec.ID) {
		t.Error("a process of the run is left")
	}
}
