package main

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// widen lets more goroutines be in the middle of something than there are processors. That of a node is most of the time
// inside a system call, which waits for a process: the fewer have to be woken for each that comes out of one, the less
// a short node costs.
func widen(app *cli.App) {
	if n := runtime.GOMAXPROCS(0); app.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(n + (n+1)/2)
	}
}

// execute runs what was prepared. started is told the run's id as soon as there is one; each, when it is not nil, is
// given every line of the journal as it is written.
func execute(app *cli.App, h *home.Home, r *request, p *prepared, started func(id string) error, each func(line []byte) error) (*event.Event, error) {
	defer p.release()
	process.AdoptOrphans()
	options := journal.Options{Definition: p.stored, Sync: r.Sync}
	if p.resumed != nil && !p.fork {
		options.ResumedFrom = p.resumed.ID
	}
	rec, err := journal.Create(h, options)
	if err != nil {
		return nil, unbegun{err}
	}
	defer rec.Close()
	if p.key != nil {
		err := p.key.Set(rec.ID)
		p.key.Release()
		if err != nil {
			rec.Remove()
			return nil, err
		}
	}
	if err := started(rec.ID); err != nil {
		rec.Remove()
		return nil, err
	}
	ctx, cancel := app.WhileRead()
	defer cancel()
	var copying sync.WaitGroup
	var unshown error
	if each != nil {
		copying.Go(func() { unshown = rec.Follow(each) })
	}
	p.RunID, p.Journal = rec.ID, rec
	if p.resumed != nil {
		p.Adopt = func(ref event.Reference) (bool, error) { return rec.Adopt(ref, p.resumed) }
	}
	if options.ResumedFrom != "" {
		p.Reused = func() error { return rec.MarkSuperseded(p.resumed) }
	}
	p.ResumeCommand = resumeLine(rec.ID)
	strays := process.Strays{Mark: engine.RunVariable + "=" + rec.ID, Grace: process.DefaultGrace}
	stopping, stopped := ctx, context.CancelFunc(func() {})
	if p.Timeout > 0 {
		stopping, stopped = context.WithTimeout(ctx, p.Timeout)
	}
	defer stopped()
	ended := context.AfterFunc(stopping, strays.Terminate)
	p.Stopped = func() {
		p.Host.Servers.Close()
		strays.End()
	}
	widen(app)
	began := time.Now()
	defer runtime.KeepAlive(p.untouched)
	last, err := engine.Run(ctx, p.Config)
	ended() // what a node has left running on purpose is not to be ended for what comes later
	p.Host.Servers.Close()
	rec.EndFollowers()
	copying.Wait()
	if err != nil {
		f := *fault.From(err)
		if !r.known && rec.Remove() {
			return nil, unbegun{&f}
		}
		rec.RecordFailure(err)
		return nil, f.Suggest("go on from here with: %s", p.ResumeCommand)
	}
	if r.Saved {
		if err := library.Open(h).RecordRun(context.WithoutCancel(app.Context), r.Name, string(last.Status), began, time.Since(began)); err != nil {
			app.Log.Warn("the workflow's statistics are not up to date", "error", err)
		}
	}
	tidy(app, h)
	if unshown != nil && !app.Stdout.Closed() {
		return nil, fault.New(fault.Internal, "The run ended as %s, but its events could not be written to standard output: %v", last.Status, unshown).
			Suggest("pflow-exec events %s prints them", rec.ID)
	}
	return last, nil
}

// unbegun is the error of a run of which nothing could be recorded.
type unbegun struct{ error }

// Unwrap gives why.
func (u unbegun) Unwrap() error { return u.error }

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
