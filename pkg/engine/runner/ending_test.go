package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// held executes a workflow to its end, and has the run be held as if its process were still stopping servers. It stays so until
// the function that it returns is called.
func (p *place) held(s Source) (run string, end func()) {
	p.Helper()
	run = p.run(s).Run
	path := filepath.Join(journal.Dir(p.Home), run, "lock")
	lock, err := os.OpenFile(path, os.O_RDWR, 0)
	p.check(err)
	p.check(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	if !p.find(run).Held() {
		p.Fatal("the run is not held")
	}
	return run, func() { p.check(lock.Close()) }
}

// An answer to a run that has paused waits for the run's process to end, and so does going on from a run that has failed.
func TestGoingOnWaitsForTheEndOfTheProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		workflow string
		options  Options
		again    bool
		want     event.Status
	}{
		"paused and answered by node": {workflow: asking, options: Options{Answers: map[string]engine.Answer{"a": {Text: "yes"}, "b": {Text: "red"}}}, want: event.Completed},
		"paused and answered":         {workflow: asking, options: Options{Answer: "red"}, want: event.Paused},
		"failed":                      {workflow: twice, want: event.Completed},
		"failed, from a node":         {workflow: twice, again: true, want: event.Completed},
	} {
		for _, stored := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.write("one", "")
				path := p.write("w.json", c.workflow)
				run, end := p.held(Source{Workflow: path})
				p.write("ok", "")
				options := c.options
				options.Dir, options.Jobs = p.dir, 1
				s := Source{Workflow: path, Resume: run}
				if c.again {
					s.From = "second"
				}
				r, err := Load(p.Host, s, options)
				if stored && !c.again {
					r, err = LoadRun(p.Host, run, Inputs{}, options)
				}
				p.check(err)
				r.Once = true

				short, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errFound)
				defer cancel()
				if l, err := Resolve(short, p.Host, r); !errors.Is(err, errFound) { // it waits
					t.Fatalf("%+v %v", l, err)
				}
				go end()
				l, err := Resolve(t.Context(), p.Host, r)
				p.check(err)
				if l.Attach != "" {
					t.Fatalf("attached to %s", l.Attach)
				}
				last, err := l.Execute(t.Context(), Observer{})
				p.check(err)
				if last.Run == run || last.Status != c.want {
					t.Errorf("%s: %s", last.Run, last.Status)
				}
			})
		}
	}
}
