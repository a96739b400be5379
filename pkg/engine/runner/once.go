package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// once is the part of Resolve that finds out whether the run to go on from, which has ended, already does what is asked for.
type once struct{ *Launch }

// attach sets Attach to the run to go on from if Request.Once asks for it: if the run has succeeded or waits for an
// answer, the workflow and the inputs are those of the run, and no node would run.
func (l once) attach(ctx context.Context) error {
	if !l.repeats() || !l.sameInputs() {
		return nil
	}
	preview, err := engine.DryRun(ctx, l.config(""))
	if err != nil {
		return l.redactor.Fault(fault.From(err))
	}
	if wouldRun(preview) {
		return nil
	}
	return l.Launch.attach(ctx, l.origin, false)
}

// repeats reports whether the request is to be answered by the run to go on from, as far as the workflow and the end of
// that run say.
func (l once) repeats() bool {
	r := l.request
	if !r.Once || l.origin == nil || l.fork || r.Again != nil || l.from.Started.Workflow.Digest != l.top.Digest {
		return false
	}
	status, _, err := l.origin.Status()
	return err == nil && (status.Succeeded() || status == event.Paused && !r.Current) // a person may answer who resumes it
}

// sameInputs reports whether the inputs are those of the run to go on from. It cannot tell secrets apart: the run has not
// recorded them.
func (l once) sameInputs() bool {
	plain, err := event.Plain(l.from.Started.Inputs, l.from.Blob)
	var had map[string]json.RawMessage
	if err != nil || json.Unmarshal(plain, &had) != nil || len(had) != len(l.inputs) {
		return false
	}
	for name, value := range l.inputs {
		before, ok := had[name]
		if !ok || !bytes.Contains(before, []byte(redact.Mark)) && !bytes.Equal(rawjson.Compact(before), rawjson.Compact(value)) {
			return false
		}
	}
	return true
}

// wouldRun reports whether a node would run before somebody answers a question.
func wouldRun(p *engine.Preview) bool {
	waits := map[string]bool{} // the nodes that ask, and those after them
	for _, id := range p.Order {
		switch would := p.Would[id]; {
		case would == engine.WouldAsk, would == engine.WouldRun && slices.ContainsFunc(p.After[id], func(before string) bool { return waits[before] }):
			waits[id] = true
		case would == engine.WouldRun, would == engine.WouldDeny:
			return true
		}
	}
	return false
}
