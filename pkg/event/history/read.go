package history

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// Read applies a stream of one run's events, or any beginning of it. It returns the faults of event.Reader, and a
// usage_error if the stream has the events of two runs.
func Read(r io.Reader) (*Run, error) { return fold(r, func(*Run, *event.Event) error { return nil }) }

// ReadStream is like Read for a stream of any length. It holds most bytes of events in memory: a stream of which more must be
// kept is a validation_error, and one that does not begin with a run a usage_error. References take the place of long values.
func ReadStream(r io.Reader, most int) (*Run, error) {
	kept := 0
	return fold(r, func(h *Run, e *event.Event) error {
		if h.Started == nil && e.Event.IsOfNode() {
			return fault.New(fault.Usage, "The event stream does not begin with a run: its first event is %s", e.Event).
				Suggest("Pipe in the events of a run, or give its id").Then(fault.Step{Do: fault.DoEvents, Run: "RUN"})
		}
		if err := shorten(e); err != nil {
			return err
		}
		if n := h.byPath[e.Node]; n == nil || e.Item != nil {
			kept += perEvent + len(e.Outputs) + len(e.Inputs)
		} else if e.Outputs != nil {
			kept += len(e.Outputs) - len(n.Outputs)
		}
		if kept > most {
			return fault.New(fault.Validation, "The event stream has more than %d MiB of nodes, items and outputs, without long values", most>>20).
				Suggest("Give the id of the run in place of its events")
		}
		return nil
	})
}

// perEvent is about how much memory an item or a node takes without its outputs.
const perEvent = 500

// shorten replaces the long values of an event by references.
func shorten(e *event.Event) (err error) {
	digest := func(content []byte) (string, error) { return event.Digest(content), nil }
	for _, value := range []*json.RawMessage{&e.Inputs, &e.Outputs} {
		if *value, err = event.Spill(*value, digest); err != nil {
			return err
		}
	}
	return nil
}

// Outline is like Read without inputs, outputs and definition, which may be large. The parameters that come with a question stay.
func Outline(r io.Reader) (*Run, error) {
	return fold(r, func(_ *Run, e *event.Event) error {
		shown := e.Params
		if Trim(e); e.Event == event.ApprovalRequested {
			e.Params = shown
		}
		return nil
	})
}

// Trim removes the inputs, the definition and the outputs from an event.
func Trim(e *event.Event) {
	e.Inputs, e.Outputs, e.Params, e.State, e.Checkpoint = nil, nil, nil, nil, nil
	if e.Workflow != nil {
		e.Workflow.Definition = nil
		e.Workflows = nil
	}
}

// fold applies the events of a stream, each after a call of see.
func fold(r io.Reader, see func(h *Run, e *event.Event) error) (*Run, error) {
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
		if err := see(&h, e); err != nil {
			return nil, err
		}
		h.Apply(e)
	}
}
