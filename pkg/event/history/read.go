package history

import (
	"errors"
	"io"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// Read applies a stream of one run's events, whole or any beginning of them. Its faults are those of event.Reader, and a
// usage_error for the events of two runs.
func Read(r io.Reader) (*Run, error) { return fold(r, func(*event.Event) {}) }

// Outline is Read without what the run was given and what it put out, which may be much.
func Outline(r io.Reader) (*Run, error) { return fold(r, Trim) }

// Trim takes the inputs, the definition and the outputs out of an event.
func Trim(e *event.Event) {
	e.Inputs, e.Outputs, e.Checkpoint = nil, nil, nil
	if e.Workflow != nil {
		e.Workflow.Definition = nil
	}
}

func fold(r io.Reader, trim func(*event.Event)) (*Run, error) {
	var h Run
	events := event.NewReader(r)
	for {
		e, _, err := events.Next()
		if errors.Is(err, io.EOF) {
			return &h, nil
		}
		if err != nil {
			return nil, err
		}
		if e.Event == event.RunStarted && h.Started != nil {
			return nil, fault.New(fault.Usage, "The event stream holds more than one run").Suggest("Give the events of one run")
		}
		trim(e)
		h.Apply(e)
	}
}
