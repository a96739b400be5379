package progress

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// The most lines that a summary shows of a long error: first and last lines of its text, suggestions, and other lists.
const (
	headLines = 3
	tailLines = 18
	maxHints  = 3
	maxOther  = 10
)

// Summary returns the lines that stay on the screen after a run: its status, the states of its nodes, the reason of a
// failure, what to do next, and the command that resumes it. The lines are not wrapped. Summary returns nil before the run's
// last event.
func Summary(r *history.Run, colored bool) []string {
	last := r.Finished
	if last == nil {
		return nil
	}
	s := summary{colored: colored}
	s.headline(r)
	if last.Status == event.Paused {
		s.warnings(last.Warnings) // such as why an answer did not count
		s.questions(r)
		return s.lines
	}
	if last.Usage != nil {
		s.addLine(dim, "used:", last.Usage.String())
	}
	if budget, spent := r.Budget(r.Time); budget != nil {
		s.addLine(dim, "spent:", spent.Of(budget))
	}
	warnings := last.Warnings
	if last.Status == event.Degraded { // they are in the last line about the run
		warnings = nil
	}
	s.warnings(warnings)
	if last.Error != nil {
		s.failure(last.Error)
	}
	if text := resumption(last); text != "" {
		label := "resume with:"
		if last.Status == event.Degraded {
			label = "retry with:"
		}
		s.addLine(normal, label, text)
	}
	return s.lines
}

type summary struct {
	lines   []string
	colored bool
}

func (s *summary) warnings(list []string) {
	for _, w := range list[:min(len(list), maxOther)] {
		s.addLine(yellow, "warning:", w)
	}
}

// unlimited is the width of lines that the terminal wraps itself, so that copying them copies whole texts.
const unlimited = 1 << 30

func (s *summary) put(l line) { s.lines = append(s.lines, l.render(unlimited, s.colored)) }

// addLine adds a line below the headline.
func (s *summary) addLine(c color, label, text string) {
	var l line
	l.blanks(2)
	if label != "" {
		l.add(c, label)
		l.blanks(1)
	}
	l.add(normal, text)
	s.put(l)
}

// headline adds the line of the run.
func (s *summary) headline(r *history.Run) {
	last := r.Finished
	sign, c := "✗", red
	switch {
	case last.Status == event.Degraded:
		sign, c = "✓", yellow
	case last.Status.Succeeded():
		sign, c = "✓", green
	case last.Status == event.Paused:
		sign, c = "?", yellow
	}
	var l line
	l.add(c, sign)
	l.blanks(1)
	l.add(bold, workflowName(r))
	l.blanks(1)
	l.add(c, status(last.Status))
	l.blanks(1)
	l.add(normal, "in "+history.FormatDuration(r.Elapsed(r.Time)))
	if counts := countsText(r); counts != "" {
		l.add(normal, ":")
		l.blanks(1)
		l.add(normal, counts)
	}
	if !strings.Contains(resumption(last), last.Run) { // else it stands below
		l.blanks(2)
		l.add(dim, last.Run)
	}
	s.put(l)
}

func status(s event.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// countsText returns how many of the workflow's own nodes are in each state.
func countsText(r *history.Run) string {
	counts := r.Counts()
	var parts []string
	for _, state := range []history.State{history.Completed, history.Reused, history.Failed, history.Skipped, history.Cancelled, history.Waiting, ""} {
		if n := counts[state]; n > 0 && state == "" {
			parts = append(parts, fmt.Sprintf("%d not run", n))
		} else if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ")
}

// failure adds the reason of the failure and what to do next.
func (s *summary) failure(f *fault.Fault) {
	if f.Node != "" {
		s.addLine(bold, f.Node, "")
	}
	text := f.Where() + strings.Join(f.Lines(), "\n")
	if stderr, ok := f.Details["stderr"].(string); ok && !strings.Contains(text, strings.TrimSpace(stderr)) {
		text += "\n" + stderr
	}
	lines := cells.Lines(text)
	if len(lines) > headLines+tailLines+1 {
		left := fmt.Sprintf("… %d lines …", len(lines)-headLines-tailLines)
		lines = slices.Concat(lines[:headLines], []string{left}, lines[len(lines)-tailLines:])
	}
	for _, text := range lines {
		s.put(line{{"    " + text, normal}})
	}
	f.Address(fault.Shell)
	for _, hint := range f.Suggestions[:min(len(f.Suggestions), maxHints)] {
		s.addLine(cyan, "hint:", hint)
	}
}

// resumption returns the command that goes on from a run, or "".
func resumption(last *event.Event) string {
	if last.Resume == nil {
		return ""
	}
	return last.Resume.Call(fault.Shell)
}

// questions adds what the run waits for, and how to give each answer.
func (s *summary) questions(r *history.Run) {
	var first *history.Node
	open := 0
	for n := range r.All() {
		if n.State != history.Waiting {
			continue
		}
		if open++; open > maxOther {
			continue
		}
		if first == nil {
			first = n
		}
		s.addLine(bold, n.Path, "asks: "+questionOf(n))
	}
	if more := open - maxOther; more > 0 {
		s.addLine(dim, fmt.Sprintf("… and %s more", history.Plural(more, "question")), "")
	}
	if first == nil || resumption(r.Finished) == "" {
		return
	}
	choices := first.Choices
	if first.Fields != nil {
		choices = append([]string{fieldsOf(first.Fields)}, choices...)
	}
	for _, choice := range choices[:min(len(choices), maxOther)] {
		if open > 1 {
			choice = first.Path + "=" + choice
		}
		s.addLine(normal, "answer with:", resumption(r.Finished)+" --approve "+fault.ShellWord(choice))
	}
}

// fieldsOf returns an answer with the fields of a schema, in which … stands for their values.
func fieldsOf(schema json.RawMessage) string {
	var fields []string
	gjson.GetBytes(schema, "properties").ForEach(func(name, _ gjson.Result) bool {
		fields = append(fields, name.Raw+": …")
		return len(fields) < maxOther
	})
	return "{" + strings.Join(fields, ", ") + "}"
}

// firstLine returns the first line of plain text about a run.
func firstLine(r *history.Run) string {
	return cells.Clean(fmt.Sprintf("run %s of %s: %s", r.Started.Run, workflowName(r), history.Plural(len(r.Nodes), "node")))
}

// lastLine returns the last line of plain text about a run. The reason of a failure is shown elsewhere.
func lastLine(r *history.Run) string {
	text := status(r.Finished.Status) + " in " + history.FormatDuration(r.Elapsed(r.Time))
	if counts := countsText(r); counts != "" {
		text += ": " + counts
	}
	return cells.Clean(text)
}
