package reader

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// What an answer of a limited size has at most beside its outputs. minFault is also the least that a fault needs.
const (
	maxErrors      = 10
	minFault       = 1000
	maxWarnings    = 10
	maxWarningSize = 200
)

// Limit shortens the answer for a reader, so that it has at most the given number of bytes as JSON, which must be at least 4096.
// The id, the status and the beginning of the fault and of the checkpoint stay. Of the outputs, placeholders replace the largest
// first; then the last ones are left out, and OutputsTotal and Next say so.
func (a *Answer) Limit(reader fault.Reader, most int) error {
	a.Address(reader)
	if a.Error != nil {
		a.Error.Address(reader)
	}
	if size, err := a.size(); err != nil || size <= most {
		return err
	}
	if a.Error != nil {
		a.Error = a.Error.LimitErrors(maxErrors).LimitBytes(max(minFault, most/2))
	}
	if c := a.Checkpoint; c != nil {
		short := *c
		if short.CompletedNodes = first(c.CompletedNodes, most/8); len(short.CompletedNodes) < len(c.CompletedNodes) {
			short.CompletedTotal = len(c.CompletedNodes)
		}
		a.Checkpoint = &short
	}
	a.Warnings, a.WarningsTotal = limitWarnings(a.Warnings, most/8)
	return a.limitOutputs(reader, most)
}

// limitWarnings returns the beginnings of the first warnings, which have about the given number of bytes, and the number of all if
// some are left out.
func limitWarnings(warnings []string, most int) (short []string, total int) {
	if n := len(warnings); n > maxWarnings {
		warnings, total = warnings[:maxWarnings], n
	}
	for _, w := range warnings {
		short = append(short, fault.Truncate(w, min(maxWarningSize, most/maxWarnings)))
	}
	return short, total
}

// size returns the number of bytes of the answer as JSON.
func (a *Answer) size() (int, error) {
	raw, err := rawjson.Marshal(a)
	return len(raw), err
}

// first returns the first texts that have at most the given number of bytes as a list in JSON.
func first(texts []string, most int) []string {
	size := len("[]")
	for i, text := range texts {
		if size += len(rawjson.Quote(text)) + len(","); size > most {
			return texts[:i]
		}
	}
	return texts
}

// output is one of the outputs of an answer: its key as JSON, and its value or a placeholder.
type output struct{ key, value json.RawMessage }

// limitOutputs shortens the outputs, so that the answer has at most the given number of bytes.
func (a *Answer) limitOutputs(reader fault.Reader, most int) error {
	var outputs []output
	gjson.ParseBytes(a.Outputs).ForEach(func(key, value gjson.Result) bool {
		outputs = append(outputs, output{json.RawMessage(key.Raw), json.RawMessage(value.Raw)})
		return true
	})
	size, err := a.size()
	if err != nil {
		return err
	}
	order := make([]int, len(outputs)) // the largest first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(len(outputs[j].value), len(outputs[i].value)) })
	for _, shorter := range []func(o output) (json.RawMessage, error){a.placeholder, a.withoutHead} {
		for _, i := range order {
			if size <= most {
				break
			}
			value, err := shorter(outputs[i])
			if err != nil {
				return err
			}
			if saved := len(outputs[i].value) - len(value); saved > 0 {
				size, outputs[i].value = size-saved, value
			}
		}
	}
	if size > most {
		a.OutputsTotal = len(outputs)
		a.Next = "Not all outputs are shown: pflow-exec wait " + a.RunID + " shows them"
		if reader.HasTools() {
			a.Next = "Not all outputs are shown: read " + event.OutputURI(a.RunID, "") + "KEY, or ask for max_output_chars 0"
		}
		a.Outputs = json.RawMessage("{}")
		if size, err = a.size(); err != nil {
			return err
		}
		for i, o := range outputs {
			if size += len(o.key) + len(o.value) + len(":,"); size > most {
				outputs = outputs[:i]
				break
			}
		}
	}
	raw := []byte{'{'}
	for i, o := range outputs {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = append(append(append(raw, o.key...), ':'), o.value...)
	}
	a.Outputs = append(raw, '}')
	return nil
}

// placeholder returns the placeholder of an output.
func (a *Answer) placeholder(o output) (json.RawMessage, error) {
	name := gjson.ParseBytes(o.key).Str
	if gjson.GetBytes(o.value, "uri").Str == event.OutputURI(a.RunID, name) { // it is one
		return o.value, nil
	}
	plain, err := event.Part(a.stored, name, a.load)
	if err != nil {
		return nil, err
	}
	value := gjson.Result{Raw: "null"}
	gjson.ParseBytes(plain).ForEach(func(key, v gjson.Result) bool {
		if key.Str == name {
			value = v
		}
		return key.Str != name
	})
	return event.ReferenceTo(json.RawMessage(value.Raw)).Placeholder(a.RunID, name), nil
}

// withoutHead returns a placeholder without the beginning of the value that it replaces, and other values as they are.
func (a *Answer) withoutHead(o output) (json.RawMessage, error) {
	name := gjson.ParseBytes(o.key).Str
	ref, ok := event.ReferenceOf(o.value)
	if !ok || gjson.GetBytes(o.value, "uri").Str != event.OutputURI(a.RunID, name) {
		return o.value, nil
	}
	ref.Head = ""
	return ref.Placeholder(a.RunID, name), nil
}
