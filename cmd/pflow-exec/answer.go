package main

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// exitStatus is a run's, from its last event.
func exitStatus(last *event.Event) cli.Status {
	switch {
	case last.Status.Succeeded():
		return 0
	case last.Status == event.TimedOut:
		return 124
	case last.Status == event.Denied:
		return 3
	case last.Status == event.Paused:
		return 4
	case last.Status == event.Cancelled:
		if last.Error != nil {
			switch status := last.Error.Details["exit_status"].(type) {
			case int:
				return cli.Status(status)
			case float64:
				return cli.Status(status)
			}
		}
		return 143
	}
	return 1
}

// answer is a run as one document.
type answer struct {
	Success    bool              `json:"success"`
	RunID      string            `json:"run_id"`
	Status     event.Status      `json:"status"`
	Outputs    json.RawMessage   `json:"outputs"`
	Checkpoint *event.Checkpoint `json:"checkpoint"`
	Error      *fault.Fault      `json:"error,omitempty"`
	Usage      *event.Usage      `json:"usage,omitempty"`
	Resume     string            `json:"resume,omitempty"`
	Warnings   []string          `json:"warnings,omitempty"`
}

// answerOf makes the document of a run's last event. Texts over limit characters are not in it, but what stands for them;
// a limit of 0 leaves out none. The checkpoint is null after a success: there is nothing to go on from.
func answerOf(last *event.Event, blob event.Load, limit int) (*answer, error) {
	a := &answer{
		Success: last.Status.Succeeded(), RunID: last.Run, Status: last.Status, Outputs: json.RawMessage("{}"),
		Error: last.Error, Usage: last.Usage, Resume: last.Resume, Warnings: last.Warnings,
	}
	if !a.Success {
		a.Checkpoint = last.Checkpoint
	}
	if last.Outputs == nil {
		return a, nil
	}
	outputs := last.Outputs
	if ref, ok := event.ReferenceOf(outputs); ok { // all of them together are long
		var err error
		if outputs, err = blob(ref.Blob); err != nil {
			return a, err
		}
	}
	out := []byte{'{'}
	var failed error
	gjson.ParseBytes(outputs).ForEach(func(key, value gjson.Result) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		member := append(append([]byte{'{'}, key.Raw...), ':') // its key is unescaped with it
		member = append(append(member, value.Raw...), '}')
		member, failed = event.Abridge(member, limit, blob, func(ref event.Reference) json.RawMessage { return ref.Placeholder(last.Run, key.Str) })
		out = append(out, member[1:len(member)-1]...)
		return failed == nil
	})
	a.Outputs = append(out, '}')
	return a, failed
}

// resumeLine is the command that goes on from a run.
func resumeLine(id string) string { return "pflow-exec resume " + id }

// interruption is why a run stopped without a last word.
func interruption(rec *journal.Reader) *fault.Fault {
	why := rec.FailureReason()
	if why == "" {
		why = "the program that executed it is gone"
	}
	return fault.New(fault.Execution, "The run was interrupted: %s", why).Suggest("Go on with: %s", resumeLine(rec.ID))
}

// interruptedAnswer is the document of a run that stopped without a last word.
func interruptedAnswer(rec *journal.Reader, c *engine.Checkpoint) *answer {
	a := &answer{
		RunID: rec.ID, Status: journal.Interrupted, Outputs: json.RawMessage("{}"), Resume: resumeLine(rec.ID),
		Error:      interruption(rec),
		Checkpoint: &event.Checkpoint{RunID: rec.ID, CompletedNodes: []string{}},
	}
	if c != nil {
		a.Checkpoint.CompletedNodes = c.Completed()
	}
	return a
}

// refusal is the document of a run that did not begin.
type refusal struct {
	Success    bool              `json:"success"`
	Error      *fault.Fault      `json:"error"`
	Checkpoint *event.Checkpoint `json:"checkpoint,omitempty"`
}

// refuse reports that nothing ran, in the form that the command's answers have. The checkpoint of a fault in a node is
// empty and names it.
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
		refused := &event.Event{V: event.Version, Seq: 1, Event: event.RunRefused, Time: time.Now().UTC(), Success: &no, Error: f, Checkpoint: checkpoint}
		if line, err = refused.Line(); err == nil {
			_, err = app.Stdout.Write(line)
		}
	case app.JSON():
		err = app.JSONLine(refusal{Error: f, Checkpoint: checkpoint})
	default:
		err = nil // text is for people, and stands on standard error
	}
	if err != nil {
		return err
	}
	app.Complain(f)
	if f.Type == fault.Template { // found before anything ran
		return cli.Status(2)
	}
	return cli.Status(f.ExitStatus())
}
