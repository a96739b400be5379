package report

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// failure is a fault as it is shown.
type failure struct {
	Message value
	// Node is the failed node, Link the link to its section.
	Node, Link                      string
	Type, Where, Missing, Available string
	Suggestions                     []string
	Details                         []field
	Errors                          []*failure
}

// maxErrors is the most faults shown of a fault that contains several.
const maxErrors = 20

// failure returns a fault and the faults that it contains, but not those inside them.
func (r *writer) failure(f *fault.Fault, space *budget) *failure {
	f.Address(fault.Shell)
	out := r.failureOf(f, space)
	for _, e := range f.Errors[:min(len(f.Errors), maxErrors)] {
		if e != nil {
			out.Errors = append(out.Errors, r.failureOf(e, space))
		}
	}
	return out
}

// failureOf returns one fault.
func (r *writer) failureOf(f *fault.Fault, space *budget) *failure {
	out := &failure{
		Message: r.value(rawjson.Quote(f.Message), space), Node: oneLine(f.Node), Link: r.link(f.Node),
		Type: oneLine(string(f.Type)), Where: strings.TrimSuffix(oneLine(f.Where()), ":"),
		Missing: joined(f.Missing), Available: joined(f.Available), Suggestions: eachOnOneLine(f.Suggestions),
	}
	for _, name := range slices.Sorted(maps.Keys(f.Details)) {
		if raw, err := rawjson.Marshal(f.Details[name]); err == nil {
			out.Details = append(out.Details, field{Name: oneLine(name), value: r.value(event.Escape(json.RawMessage(raw)), space)})
		}
	}
	return out
}
