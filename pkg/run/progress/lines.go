package progress

import (
	"fmt"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// Lines turns the events of one run into lines of plain text. Its zero value is ready for the first event.
type Lines struct{ run history.Run }

// Workflow returns the name of the run's workflow, or "" before its first event.
func (l *Lines) Workflow() string { return cells.Clean(workflowName(&l.run)) }

// Apply applies the run's next event and returns what it adds to the text: one line for the start of the run and for each node
// that has ended, and at the end of the run its status, the reason of its failure and what to do next.
func (l *Lines) Apply(e *event.Event) (lines []string) {
	history.Trim(e)
	l.run.Apply(e)
	switch e.Event {
	case event.RunStarted:
		return []string{firstLine(&l.run)}
	case event.RunInterrupted:
		return []string{"interrupted"}
	}
	if o, ok := noteOf(&l.run, e); ok {
		lines = append(lines, o.plain())
	}
	if !e.IsTerminal() {
		return lines
	}
	lines = append(lines, lastLine(&l.run))
	if text := Degraded(e); text != "" {
		lines = append(lines, text)
	}
	if f := e.Error; f != nil {
		where := ""
		if f.Node != "" {
			where = "node " + f.Node + ": "
		}
		for i, text := range f.Lines() {
			before := "  "
			if i == 0 {
				before = "error: " + where
			}
			lines = append(lines, before+cells.Clean(text))
		}
	}
	if text := resumption(e); text != "" {
		lines = append(lines, cells.Clean("resume with: "+text))
	}
	return lines
}

// The most reasons that Degraded names, and the most characters of each.
const (
	maxReasons = 3
	maxReason  = 200
)

// Degraded returns one line that says why a run is degraded, or "" if its last event has another status.
func Degraded(last *event.Event) string {
	if last.Status != event.Degraded {
		return ""
	}
	text, reasons := "degraded", last.Warnings
	for i, why := range reasons[:min(len(reasons), maxReasons)] {
		text += []string{": ", "; "}[min(i, 1)] + fault.Truncate(cells.Clean(why), maxReason)
	}
	if more := len(reasons) - maxReasons; more > 0 {
		text += fmt.Sprintf("; and %s", history.Plural(more, "more reason"))
	}
	return text
}
