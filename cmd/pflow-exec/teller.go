package main

import (
	"bytes"
	"fmt"
	"strings"
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
		t.failed(e, took)
	case event.ApprovalRequested:
		t.say("%s asks: %s [%s]", e.Node, e.Question, strings.Join(e.Choices, "/"))
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

// failed tells of a failure: one of the node as a whole, or one that the run gets over.
func (t *teller) failed(e *event.Event, took string) {
	name := e.Node
	if e.Item != nil {
		name += fmt.Sprintf("[%d]", *e.Item)
	}
	switch {
	case e.Fails():
		t.node("FAILED", name+took+": "+e.Error.Message)
	case e.RetryInMS != nil:
		t.say("        retry     %s: attempt %d failed%s: %s", name, e.Attempt, took, e.Error.Message)
	default:
		t.say("        failed    %s%s: %s", name, took, e.Error.Message)
	}
}

// node tells of a node that has ended. Those inside a sub-workflow are not counted.
func (t *teller) node(what, text string) {
	if strings.Contains(text[:strings.IndexByte(text+" ", ' ')], "/") {
		t.say("        %-9s %s", what, text)
		return
	}
	t.done++
	t.say("[%d/%d] %-9s %s", t.done, t.total, what, text)
}

func (t *teller) say(format string, args ...any) {
	_, _ = fmt.Fprintf(t.app.Stderr, format+"\n", args...)
}
