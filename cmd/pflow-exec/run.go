package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

type runCommand struct {
	sourceFlags
	answerFlags
}

// answerFlags say what of a run's end is shown; run, wait and resume share them.
type answerFlags struct {
	Print          string `help:"Print this output alone, as text, when the run has succeeded." placeholder:"OUTPUT"`
	MaxOutputChars int    `help:"Leave longer texts out of the document of --format json, with how to read them; 0 leaves out none." default:"2000" placeholder:"N"`
}

// Help is the longer text of --help.
func (runCommand) Help() string {
	return `Inputs come from KEY=VALUE, then --inputs, the environment, settings.json, and the default. On a pipe standard output
carries one JSON event a line, with --format json one document at the end, with --print one output as text.

  pflow-exec run disk.json dir=/usr/share | jq -r 'select(.event=="node_completed").node'
  pflow-exec run disk.json --print files
  pflow-exec run disk.json > run.ndjson;  pflow-exec run disk.json --resume run.ndjson

Exit status: 0 completed, 1 failed, 2 refused (nothing ran), 3 denied, 4 waits for
a person, 124 --timeout, 129, 130, 143 a signal, 141 nobody read.`
}

// Run executes a workflow in this process.
func (c *runCommand) Run(app *cli.App) error {
	show := newPresenter(app, c.answerFlags)
	host, err := newHost(app)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	r, err := c.load(app, host)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	if r.DryRun {
		return dryRun(app, host, r)
	}
	return runHere(app, host, r, show)
}

// runHere executes a request in this process and shows the run, or follows the run that does already what is asked for.
func runHere(app *cli.App, host *runner.Host, r *runner.Request, show *presenter) error {
	host.Ask = show.people.asking(host.Ask)
	l, err := runner.Resolve(app.Context, host, r)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	defer l.Release()
	if l.Attach != "" {
		rec, err := journal.Find(host.Home, l.Attach)
		if err != nil {
			return err
		}
		return follow(app, rec, show, r.Timeout)
	}
	if err := show.check(l.Workflow()); err != nil {
		return refuse(app, err, show.stream)
	}
	defer show.people.end()
	ctx, cancel := app.WhileRead()
	defer cancel()
	last, err := l.Execute(ctx, runner.Observer{Event: show.each()})
	if refused, ok := errors.AsType[*runner.NotStartedError](err); ok {
		return refuse(app, refused.Err, show.stream)
	}
	if err != nil {
		return err
	}
	if show.unwritten != nil && !app.Stdout.Closed() {
		return fault.New(fault.Internal, "The run ended as %s, but its events could not be written to standard output: %v", last.Status, show.unwritten).
			Suggest("pflow-exec events %s prints them", last.Run)
	}
	rec, err := journal.Find(host.Home, last.Run)
	if err != nil {
		return err
	}
	return show.end(last, rec.Blob)
}

// follow shows a run that another process executes, for a limited time when limit is more than 0: it goes on after that.
func follow(app *cli.App, rec *journal.Reader, show *presenter, limit time.Duration) error {
	ctx, cancel := app.WhileRead()
	defer cancel()
	if limit > 0 {
		var enough context.CancelFunc
		ctx, enough = context.WithTimeoutCause(ctx, limit, errWaited)
		defer enough()
	}
	var last *event.Event
	defer show.people.end()
	each := show.each()
	err := rec.Follow(ctx, func(line []byte) error {
		if bytes.Contains(line, []byte(`"event":"run_`)) { // the few that may be the last
			if e, _, err := event.NewReader(bytes.NewReader(line)).Next(); err == nil && e.IsTerminal() {
				last = e
			}
		}
		if each == nil {
			return nil
		}
		return each(line)
	})
	if errors.Is(err, errWaited) {
		app.Report(fault.New(fault.Timeout, "Run %s has not ended within %s; it goes on", rec.ID, limit).Suggest("pflow-exec wait %s waits again", rec.ID))
		return cli.Status(124)
	}
	if err != nil {
		return err
	}
	if last == nil {
		show.people.end()
		return interrupted(app, rec)
	}
	return show.end(last, rec.Blob)
}

// presenter shows a run on standard output in the form that was asked for: its events, or at the end one document, a
// text, or one output. On standard error it tells people what happens meanwhile.
type presenter struct {
	answerFlags
	app *cli.App
	// alone is the output that the workflow says is to be printed alone as text.
	alone  string
	stream bool
	people *teller
	// unwritten is why the events could not be written to standard output.
	unwritten error
}

func newPresenter(app *cli.App, flags answerFlags) *presenter {
	s := &presenter{answerFlags: flags, app: app}
	s.stream = app.JSON() && app.Format() != "json" && flags.Print == ""
	s.people = newTeller(app, s.stream, flags.Print != "")
	return s
}

// check refuses a --print of an output that the workflow does not declare.
func (s *presenter) check(w *workflow.Workflow) error {
	for name, out := range w.Outputs {
		if out.Stdout {
			s.alone = name
		}
	}
	name, _, _ := strings.Cut(s.Print, ".")
	if _, ok := w.Outputs[s.Print]; ok || s.Print == "" || len(w.Outputs) == 0 {
		return nil
	}
	if _, ok := w.Outputs[name]; ok {
		return nil
	}
	f := fault.New(fault.Usage, "The workflow has no output %q", s.Print)
	f.Available = slices.Sorted(maps.Keys(w.Outputs))
	if near, ok := fault.Nearest(s.Print, f.Available); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f.Suggest("Its outputs are: %s", strings.Join(f.Available, ", "))
}

// each gives what is done with every line of the journal, or nil.
func (s *presenter) each() func(line []byte) error {
	if !s.stream && !s.people.active {
		return nil
	}
	return func(line []byte) error {
		s.people.tell(line)
		if !s.stream {
			return nil
		}
		_, s.unwritten = s.app.Stdout.Write(line)
		return s.unwritten
	}
}

// end shows how the run ended and gives the exit status.
func (s *presenter) end(last *event.Event, blob event.Load) error {
	status := exitStatus(last)
	if told := s.people.end(); last.Error != nil && status != 141 && !told {
		s.complain(last)
	}
	if s.stream {
		return s.status(status)
	}
	if s.Print != "" && last.Status.Succeeded() {
		return s.one(last, blob, s.Print)
	}
	a, err := answerOf(last, blob, s.MaxOutputChars)
	if err != nil {
		return err
	}
	if s.Print != "" { // it failed: there is no such output, and nothing else was asked for
		return s.status(status)
	}
	if err := s.app.Document(a, func(w io.Writer) { s.outputs(w, last, blob) }); err != nil {
		return unwritten(last, err)
	}
	return s.status(status)
}

// unwritten says of an answer that could not be written how it can be had once more.
func unwritten(last *event.Event, err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok { // nobody reads it
		return err
	}
	return f.Suggest("The run ended as %s; pflow-exec wait %s answers again", last.Status, last.Run)
}

func (s *presenter) status(status cli.Status) error {
	if status == 0 {
		return nil
	}
	return status
}

// complain says on standard error why a run failed, and how to go on.
func (s *presenter) complain(last *event.Event) {
	f := *last.Error
	if f.Node != "" {
		f.Message = "node " + f.Node + ": " + f.Message
	}
	if last.Resume != "" {
		f.Suggestions = append(slices.Clone(f.Suggestions), "go on from here with: "+last.Resume)
	}
	s.app.Complain(&f)
}

// one prints a single output as text.
func (s *presenter) one(last *event.Event, blob event.Load, name string) error {
	plain, err := event.Plain(last.Outputs, blob)
	if err != nil {
		return err
	}
	ref, ok := template.ParseExpression("outputs." + name)
	if !ok {
		ref = template.Ref{Root: "outputs", Path: []template.Step{{Key: name}}}
	}
	value, reason := template.Lookup(ref, func(template.Ref) (json.RawMessage, template.Availability) { return plain, template.Present })
	if reason != "" {
		f := fault.New(fault.Usage, "The run has no output %q", name)
		gjson.ParseBytes(plain).ForEach(func(k, _ gjson.Result) bool { f.Available = append(f.Available, k.Str); return true })
		if len(f.Available) > 0 {
			f.Suggest("Its outputs are: %s", strings.Join(f.Available, ", "))
		}
		return f
	}
	if _, err = fmt.Fprintln(s.app.Stdout, template.AsText(value)); err != nil {
		return unwritten(last, err)
	}
	return nil
}

// outputs writes a run's outputs for people: one alone as it is, several by their names.
func (s *presenter) outputs(w io.Writer, last *event.Event, blob event.Load) {
	plain, err := event.Plain(last.Outputs, blob)
	if err != nil {
		return
	}
	var outputs map[string]json.RawMessage
	if json.Unmarshal(plain, &outputs) != nil {
		return
	}
	if alone, ok := outputs[s.alone]; ok && s.alone != "" {
		_, _ = fmt.Fprintln(w, template.AsText(alone))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if len(outputs) == 1 {
			_, _ = fmt.Fprintln(w, template.AsText(outputs[name]))
			return
		}
		_, _ = fmt.Fprintf(w, "%s: %s\n", name, template.AsText(outputs[name]))
	}
}
