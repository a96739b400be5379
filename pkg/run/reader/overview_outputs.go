package reader

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	// maxOutputText is the most characters of a text in the outputs of an overview.
	maxOutputText = 2000
	// maxBriefOutput is the most bytes of the outputs of a node that stay as they are when an overview is shortened.
	maxBriefOutput = 100
)

// addOutputs adds the outputs of the run, if it has ended, and of its nodes.
func (o *Overview) addOutputs(r *Run, h *history.Run) (err error) {
	if h.Finished != nil {
		if o.answer, err = r.Answer(h.Finished, maxOutputText); err != nil {
			return err
		}
		o.Outputs = o.answer.Outputs
	}
	for _, n := range h.Nodes {
		if !n.State.Ended() || n.Outputs == nil {
			continue
		}
		outputs, err := r.value(n.Outputs, maxOutputText)
		if err != nil {
			return err
		}
		o.NodeOutputs = append(o.NodeOutputs, Field{n.Path, outputs})
	}
	return nil
}

// limitOutputs sets the outputs, shortened so that the overview has at most the given number of bytes. What the run itself puts out
// has half of the room.
func (o *Overview) limitOutputs(reader fault.Reader, most int, outputs json.RawMessage, nodes Fields) error {
	raw, err := rawjson.Marshal(o)
	if err != nil {
		return err
	}
	const around = len(`"outputs":,"outputs_total":1000000,"node_outputs":,"node_outputs_total":1000000,`)
	room := most - len(raw) - around
	if o.Outputs = outputs; len(outputs) > room/2 {
		short := &Answer{RunID: o.RunID, Outputs: outputs, stored: o.answer.stored, load: o.answer.load, addressed: true}
		if err := short.limitOutputs(reader, max(room/2, 0)); err != nil {
			return err
		}
		o.Outputs, o.OutputsTotal = short.Outputs, short.OutputsTotal
		if o.Next == "" {
			o.Next = short.Next
			room -= len(rawjson.Quote(o.Next)) + len(`"next":,`)
		}
	}
	room -= len(o.Outputs)
	if o.NodeOutputs = nodes.limit(room); len(o.NodeOutputs) < len(nodes) {
		o.NodeOutputsTotal = len(nodes)
	}
	return nil
}

// limit returns the first fields, which have at most the given number of bytes as JSON. References replace the largest values first.
func (f Fields) limit(most int) Fields {
	size := len("{}")
	bytes := func(i int) int { return len(rawjson.Quote(f[i].Path)) + len(f[i].Value) + len(":,") }
	order := make([]int, len(f))
	for i := range f {
		order[i] = i
		size += bytes(i)
	}
	short := slices.Clone(f)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(len(f[j].Value), len(f[i].Value)) })
	for _, i := range order {
		if size <= most {
			break
		}
		short[i].Value = brief(f[i].Value, maxBriefOutput)
		size += len(short[i].Value) - len(f[i].Value)
	}
	f = short
	for size > most && len(f) > 0 {
		size -= bytes(len(f) - 1)
		f = f[:len(f)-1]
	}
	return f
}
