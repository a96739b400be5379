package history

import (
	"errors"
	"io"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// Read applies a stream of one run's events, or any beginning of it. It returns the faults of event.Reader, and a
// usage_error if the stream has the events of two runs.
func Read(r io.Reader) (*Run, error) { return fold(r, func(*event.Event) {}) }

// Outline is like Read without inputs, outputs and definition, which may be large.
func Outline(r io.Reader) (*Run, error) { return fold(r, Trim) }

// Trim removes the inputs, the definition and the outputs from an event.
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
			return nil, fault.New(fault.Usage, "The event stream has the events of more than one run").Suggest("Give the events of one run")
		}
		trim(e)
		h.Apply(e)
	}
}
