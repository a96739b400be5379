package progress

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// How much of a long error a summary shows: the first and the last lines of a text, suggestions, and other things of
// which there can be any number.
const (
	headLines = 3
	tailLines = 12
	mostHints = 3
	mostOther = 10
)

// Summary is what is left on a screen of a run that has finished: its status, what became of its nodes, why it failed,
// what to do next, and the command that goes on. Its lines are as long as their texts. It is empty before the run's last
// event.
func Summary(r *history.Run, colored bool) []string {
	last := r.Finished
	if last == nil {
		return nil
	}
	s := summary{colored: colored}
	s.headline(r)
	if last.Status == event.Paused {
		s.questions(r)
		return s.lines
	}
	if last.Usage != nil {
		s.say(dim, "used:", last.Usage.String())
	}
	for _, w := range last.Warnings[:min(len(last.Warnings), mostOther)] {
		s.say(yellow, "warning:", w)
	}
	if last.Error != nil {
		s.failure(last.Error)
	}
	if last.Resume != "" {
		s.say(normal, "go on from here with:", last.Resume)
	}
	return s.lines
}

type summary struct {
	lines   []string
	colored bool
}

// unlimited is the width of lines that a terminal wraps where it has to, so that what is copied from them is whole.
const unlimited = 1 << 30

func (s *summary) put(l line) { s.lines = append(s.lines, l.in(unlimited, s.colored)) }

// say puts a line below the headline.
func (s *summary) say(c color, label, text string) {
	var l line
	l.blanks(2)
	if label != "" {
		l.add(c, label)
		l.blanks(1)
	}
	l.add(normal, text)
	s.put(l)
}

// headline is the run in one line.
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
	l.add(bold, name(r))
	l.blanks(1)
	l.add(c, status(last.Status))
	l.blanks(1)
	l.add(normal, "in "+history.FormatDuration(r.Elapsed(r.Time)))
	if counts := counted(r); counts != "" {
		l.add(normal, ":")
		l.blanks(1)
		l.add(normal, counts)
	}
	l.blanks(2)
	l.add(dim, last.Run)
	s.put(l)
}

func status(s event.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// counted is how many of the workflow's own nodes came to what end.
func counted(r *history.Run) string {
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

// failure says why the run failed, and what to do next.
func (s *summary) failure(f *fault.Fault) {
	if f.Node != "" {
		s.say(bold, f.Node, "")
	}
	text := f.Where() + f.Message
	for _, e := range f.Errors[:min(len(f.Errors), mostOther)] {
		text += "\n" + e.Where() + e.Message
	}
	if said, ok := f.Details["stderr"].(string); ok && !strings.Contains(text, strings.TrimSpace(said)) {
		text += "\n" + said
	}
	lines := cells.Lines(text)
	if len(lines) > headLines+tailLines+1 {
		left := fmt.Sprintf("… %d lines …", len(lines)-headLines-tailLines)
		lines = slices.Concat(lines[:headLines], []string{left}, lines[len(lines)-tailLines:])
	}
	for _, text := range lines {
		s.put(line{{"    " + text, normal}})
	}
	for _, hint := range f.Suggestions[:min(len(f.Suggestions), mostHints)] {
		s.say(cyan, "hint:", hint)
	}
}

// questions says what the run waits for, and how each answer is given.
func (s *summary) questions(r *history.Run) {
	var first *history.Node
	open := 0
	for n := range r.All() {
		if n.State != history.Waiting {
			continue
		}
		if open++; open > mostOther {
			continue
		}
		if first == nil {
			first = n
		}
		s.say(bold, n.Path, "asks: "+asking(n))
	}
	if more := open - mostOther; more > 0 {
		s.say(dim, fmt.Sprintf("… and %s more", history.Plural(more, "question")), "")
	}
	if first == nil || r.Finished.Resume == "" {
		return
	}
	for _, choice := range first.Choices[:min(len(first.Choices), mostOther)] {
		s.say(normal, "answer with:", r.Finished.Resume+" --approve "+quoted(choice))
	}
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,@%+", r)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// opening is the first line of plain text about a run.
func opening(r *history.Run) string {
	return cells.Clean(fmt.Sprintf("run %s of %s: %s", r.Started.Run, name(r), history.Plural(len(r.Nodes), "node")))
}

// closing is the last line of plain text about a run; why it failed is said elsewhere.
func closing(r *history.Run) string {
	text := status(r.Finished.Status) + " in " + history.FormatDuration(r.Elapsed(r.Time))
	if counts := counted(r); counts != "" {
		text += ": " + counts
	}
	return cells.Clean(text)
}
