package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// presenter shows a run: on standard output its events, or at the end one document, a text, or one output; on standard
// error its progress, for people.
type presenter struct {
	answerFlags
	app *cli.App
	// stream is set if standard output carries the events.
	stream   bool
	progress *progressView
	// text is the output that the workflow has chosen to be the only one that is printed as text, or empty.
	text string
	// node is the id of the only node that runs, or empty. bare is set if its outputs are all that is printed after a success.
	node string
	bare bool
	// waited answers for a run that was followed as long as it may be; nil reports a timeout.
	waited func(run *reader.Run) error
	// confirm gets the events in place of standard output, to which it writes them, or is nil.
	confirm *confirmer
	// lost is why not all events were written to standard output.
	lost error
}

// newPresenter returns a presenter that writes the events to standard output, if that carries NDJSON.
func newPresenter(app *cli.App, flags answerFlags) *presenter {
	return present(app, flags, app.JSON() && app.Format() != "json" && flags.Print == "")
}

// newAnswerer returns a presenter that writes only the answer to standard output, and shows the progress only on a terminal.
func newAnswerer(app *cli.App, flags answerFlags) *presenter {
	s := present(app, flags, false)
	s.progress.active = s.progress.active && isatty.IsTerminal(app.Stderr.Fd())
	return s
}

func present(app *cli.App, flags answerFlags, stream bool) *presenter {
	if flags.Raw {
		app.Stdout.Raw()
	}
	return &presenter{answerFlags: flags, app: app, stream: stream, progress: newProgressView(app, stream, flags.Print != "")}
}

// check returns a fault if --print names neither an output of the workflow nor, if it declares none, a node.
func (s *presenter) check(w *workflow.Workflow) error {
	for name, out := range w.Outputs {
		if out.Stdout {
			s.text = name
		}
	}
	name, names := s.Print, slices.Sorted(maps.Keys(w.Outputs))
	if i := strings.IndexAny(name, ".["); i >= 0 {
		name = name[:i]
	}
	if len(names) == 0 {
		names = w.NodeIDs()
	}
	if s.Print == "" || slices.Contains(names, s.Print) || slices.Contains(names, name) || strings.Contains(s.Print, "/") { // of a run of one node
		return nil
	}
	f := fault.New(fault.Usage, "The workflow has no output %q", s.Print)
	f.Offer(s.Print, names)
	if near, ok := fault.Nearest(s.Print, names); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f.Suggest("Its outputs are: %s", strings.Join(f.Available, ", "))
}

// each returns the function to call with every line of the journal, or nil if nothing is shown before the end.
func (s *presenter) each() func(line []byte) error {
	if !s.stream && !s.progress.active {
		return nil
	}
	return func(line []byte) error {
		s.progress.apply(line)
		if !s.stream {
			return nil
		}
		_, err := s.app.Stdout.Write(line)
		return err
	}
}

// interrupted answers for a run that stopped without a last event.
func (s *presenter) interrupted(run *reader.Run) error {
	a, err := run.Answer(nil, s.MaxOutputChars)
	if err != nil {
		return err
	}
	s.app.Complain(a.Error)
	if err := s.limit(a); err != nil {
		return err
	}
	if err := s.app.Document(a, func(w io.Writer) { _, _ = fmt.Fprintln(w, a.Status) }); err != nil {
		return err
	}
	return cli.Status(1)
}

// end answers for a run that has ended, and returns its exit status as an error.
func (s *presenter) end(run *reader.Run, last *event.Event) error {
	defer s.sayDegraded(last)
	run.PointOn(last)
	status, err := exitStatus(last), error(nil)
	if last.Status == event.Degraded {
		if status, err = s.degradedStatus(run); err != nil {
			return err
		}
	}
	if complained := s.progress.end(); last.Error != nil && status != 141 && !complained {
		s.complain(last)
	}
	if s.stream {
		return asError(status)
	}
	if s.Print != "" && last.Status.Succeeded() {
		if err := s.printOutput(run, last, s.Print); err != nil {
			return err
		}
		return asError(status)
	}
	if s.bare && last.Status.Succeeded() {
		return s.printNode(run, last)
	}
	a, err := run.Answer(last, s.MaxOutputChars)
	if err != nil {
		return err
	}
	if s.Print != "" { // the run failed, so it does not have the output
		return asError(status)
	}
	if err := s.limit(a); err != nil {
		return err
	}
	if err := s.app.Document(a, func(w io.Writer) { s.writeOutputs(w, run, last) }); err != nil {
		return suggestWait(last, err)
	}
	return asError(status)
}

// limit shortens an answer that is to be printed with --max-bytes.
func (s *presenter) limit(a *reader.Answer) error {
	if s.app.MaxBytes == 0 {
		return nil
	}
	return a.Limit(s.app.Reader, s.app.MaxBytes-len("\n"))
}

// suggestWait adds to the fault of an answer that could not be written how to get it again.
func suggestWait(last *event.Event, err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok { // the reader of standard output has gone away
		return err
	}
	return f.Suggest("The run ended as %s", last.Status).Then(fault.Command("See its answer again", "pflow-exec wait %s", last.Run))
}

// asError returns nil for 0.
func asError(status cli.Status) error {
	if status == 0 {
		return nil
	}
	return status
}

// complain writes to standard error why a run failed and how to go on.
func (s *presenter) complain(last *event.Event) {
	f := *last.Error
	if last.Status == event.Paused { // such as why an answer did not count
		for _, w := range last.Warnings {
			s.app.Warn("%s", w)
		}
	}
	if f.Node != "" && !s.bare {
		f.Message = "node " + f.Node + ": " + f.Message
	}
	if last.Resume != nil && last.Status != event.Paused { // else the hints say how to answer
		f.SuggestAs(last.Error).Then(*last.Resume)
	}
	s.app.Complain(&f)
}

// printOutput prints one output, or a value in it, as text.
func (s *presenter) printOutput(run *reader.Run, last *event.Event, name string) error {
	plain, err := event.Plain(last.Outputs, run.Blob)
	if err != nil {
		return err
	}
	ref, ok := template.ParseExpression("outputs." + name)
	if !ok {
		ref = template.Ref{Root: "outputs", Path: []template.Step{{Key: name}}}
		slash := strings.LastIndexByte(name, '/') // outer[0]/inner.key of a run of one node
		if dot := strings.IndexByte(name[slash+1:], '.'); slash >= 0 && dot >= 0 {
			if inner, ok := template.ParseExpression("outputs" + name[slash+1+dot:]); ok {
				ref.Path = append([]template.Step{{Key: name[:slash+1+dot]}}, inner.Path...)
			}
		}
	}
	value, reason := template.Lookup(ref, func(template.Ref) (json.RawMessage, template.Availability) { return plain, template.Present })
	if reason != "" {
		f := fault.New(fault.Usage, "The run has no output %q", name)
		var names []string
		gjson.ParseBytes(plain).ForEach(func(k, _ gjson.Result) bool { names = append(names, k.Str); return true })
		f.Offer(name, names)
		if len(f.Available) > 0 {
			f.Suggest("Its outputs are: %s", strings.Join(f.Available, ", "))
		}
		return f
	}
	if _, err = fmt.Fprintln(s.app.Stdout, template.AsText(value)); err != nil {
		return suggestWait(last, err)
	}
	return nil
}

// printNode prints the outputs of the only node of a run.
func (s *presenter) printNode(run *reader.Run, last *event.Event) error {
	plain, err := event.Plain(last.Outputs, run.Blob)
	if err != nil {
		return err
	}
	outputs := json.RawMessage("{}")
	gjson.ParseBytes(plain).ForEach(func(_, v gjson.Result) bool { outputs = json.RawMessage(v.Raw); return false })
	if err := s.app.Document(outputs, func(w io.Writer) { writePaths(w, s.node, outputs, s.app.Stdout.Columns()) }); err != nil {
		return suggestWait(last, err)
	}
	return nil
}

// writeOutputs writes the outputs of a run for people: a single one as it is, several with their names. If the workflow declares none,
// it writes the text of each of the nodes that the run ended with.
func (s *presenter) writeOutputs(w io.Writer, run *reader.Run, last *event.Event) {
	plain, err := event.Plain(last.Outputs, run.Blob)
	if err != nil {
		return
	}
	var outputs map[string]json.RawMessage
	if json.Unmarshal(plain, &outputs) != nil {
		return
	}
	if s.node != "" {
		for _, value := range outputs {
			writePaths(w, s.node, value, s.app.Stdout.Columns())
		}
		return
	}
	if text, ok := outputs[s.text]; ok && s.text != "" {
		_, _ = fmt.Fprintln(w, template.AsText(text))
		return
	}
	declared, err := reader.DeclaresOutputs(run)
	if err != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		value := outputs[name]
		switch {
		case declared && len(outputs) == 1:
			_, _ = fmt.Fprintln(w, template.AsText(value))
		case declared:
			_, _ = fmt.Fprintf(w, "%s: %s\n", name, template.AsText(value))
		default:
			writeValue(w, "", name, textOf(value))
		}
	}
}
