package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

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

// interrupted shows that a run stopped without a last event.
func (s *presenter) interrupted(run *reader.Run) error {
	s.people.end()
	a, err := run.Answer(nil, s.MaxOutputChars)
	if err != nil {
		return err
	}
	s.app.Complain(a.Error)
	if err := s.app.Document(a, func(w io.Writer) { _, _ = fmt.Fprintln(w, a.Status) }); err != nil {
		return err
	}
	return cli.Status(1)
}

// end shows how the run ended and gives the exit status.
func (s *presenter) end(run *reader.Run, last *event.Event) error {
	status := exitStatus(last)
	if told := s.people.end(); last.Error != nil && status != 141 && !told {
		s.complain(last)
	}
	if s.stream {
		return s.status(status)
	}
	if s.Print != "" && last.Status.Succeeded() {
		return s.one(run, last, s.Print)
	}
	a, err := run.Answer(last, s.MaxOutputChars)
	if err != nil {
		return err
	}
	if s.Print != "" { // it failed: there is no such output, and nothing else was asked for
		return s.status(status)
	}
	if err := s.app.Document(a, func(w io.Writer) { s.outputs(w, run, last) }); err != nil {
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
func (s *presenter) one(run *reader.Run, last *event.Event, name string) error {
	plain, err := event.Plain(last.Outputs, run.Blob)
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
func (s *presenter) outputs(w io.Writer, run *reader.Run, last *event.Event) {
	plain, err := event.Plain(last.Outputs, run.Blob)
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
