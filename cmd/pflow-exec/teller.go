package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/event"
)

// teller tells people on standard error what a run does, a line a node. It is active when that is a terminal.
type teller struct {
	app    *cli.App
	active bool
	total  int
	done   int
}

func newTeller(app *cli.App, wanted bool) *teller {
	return &teller{app: app, active: wanted && !app.Quiet && isatty.IsTerminal(app.Stderr.Fd())}
}

func (t *teller) tell(line []byte) {
	if !t.active {
		return
	}
	e, _, err := event.NewReader(bytes.NewReader(line)).Next()
	if err != nil {
		return
	}
	if e.Event == event.RunStarted {
		t.total = len(e.Nodes)
		t.say("run %s of %s: %d nodes", e.Run, e.Workflow.Name, t.total)
		return
	}
	took := ""
	if e.DurationMS != nil {
		took = " " + time.Duration(*e.DurationMS*float64(time.Millisecond)).Round(time.Millisecond).String()
	}
	switch e.Event {
	case event.NodeCompleted:
		t.node("ok", e.Node+took)
	case event.NodeReused:
		t.node("reused", e.Node)
	case event.NodeSkipped:
		t.node("skipped", e.Node)
	case event.NodeCancelled:
		t.node("cancelled", fmt.Sprintf("%s (%s)", e.Node, e.Cause))
	case event.NodeFailed:
		t.node("FAILED", e.Node+took+": "+e.Error.Message)
	case event.RunFinished:
		t.say("%s%s", e.Status, took)
		if e.Error != nil {
			for _, s := range e.Error.Suggestions {
				t.say("hint: %s", s)
			}
		}
		if e.Resume != "" {
			t.say("go on from here with: %s", e.Resume)
		}
	}
}

func (t *teller) node(what, text string) {
	t.done++
	t.say("[%d/%d] %-9s %s", t.done, t.total, what, text)
}

func (t *teller) say(format string, args ...any) {
	_, _ = fmt.Fprintf(t.app.Stderr, format+"\n", args...)
}
