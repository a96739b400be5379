package main

import (
	"errors"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// exitStatus returns the exit status of a run with that last event.
func exitStatus(last *event.Event) cli.Status {
	if last.Status == event.Cancelled && last.Error != nil {
		switch status := last.Error.Details["exit_status"].(type) {
		case int:
			return cli.Status(status)
		case float64:
			return cli.Status(status)
		}
	}
	return cli.Status(last.Status.ExitStatus())
}

// refusal is the document of a run that did not start.
type refusal struct {
	Success    bool              `json:"success"`
	Error      *fault.Fault      `json:"error"`
	Checkpoint *event.Checkpoint `json:"checkpoint,omitempty"`
}

// refuse reports that nothing ran: as an event if standard output carries a stream of them, or as a document. If the fault
// names a node, an empty checkpoint names it too.
func refuse(app *cli.App, err error, stream bool) error {
	if interrupted, ok := errors.AsType[cli.Interrupted](err); ok {
		return interrupted
	}
	f := fault.From(err)
	var checkpoint *event.Checkpoint
	if f.Node != "" {
		checkpoint = &event.Checkpoint{CompletedNodes: []string{}, FailedNode: f.Node}
	}
	no := false
	switch {
	case stream:
		var line []byte
		f.Address(app.Reader)
		refused := &event.Event{V: event.Version, Seq: 1, Event: event.RunRefused, Time: time.Now().UTC(), Success: &no, Error: f, Checkpoint: checkpoint}
		if line, err = refused.Line(); err == nil {
			_, err = app.Stdout.Write(line)
		}
	case app.JSON():
		err = app.JSONLine(refusal{Error: f, Checkpoint: checkpoint})
	default:
		err = nil // Complain is enough for people
	}
	if err != nil {
		return err
	}
	app.Complain(f)
	if f.Type == fault.Template { // found before anything ran, so not a failure of the run
		return cli.Status(2)
	}
	return cli.Status(f.ExitStatus())
}
