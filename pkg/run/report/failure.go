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
	// Node is the node that failed, Link its place in the page.
	Node, Link                      string
	Type, Where, Missing, Available string
	Suggestions                     []string
	Details                         []field
	Errors                          []*failure
}

// maxErrors is how many of several errors are shown.
const maxErrors = 20

// failure shows a fault. Where it counts several, those are shown, but no more inside them.
func (r *writer) failure(f *fault.Fault, space *allowance) *failure {
	out := r.single(f, space)
	for _, e := range f.Errors[:min(len(f.Errors), maxErrors)] {
		if e != nil {
			out.Errors = append(out.Errors, r.single(e, space))
		}
	}
	return out
}

func (r *writer) single(f *fault.Fault, space *allowance) *failure {
	out := &failure{
		Message: r.value(rawjson.Quote(f.Message), space), Node: oneLine(f.Node), Link: r.link(f.Node),
		Type: oneLine(string(f.Type)), Where: strings.TrimSuffix(oneLine(f.Where()), ":"),
		Missing: listed(f.Missing), Available: listed(f.Available), Suggestions: lines(f.Suggestions),
	}
	for _, name := range slices.Sorted(maps.Keys(f.Details)) {
		if raw, err := rawjson.Marshal(f.Details[name]); err == nil {
			out.Details = append(out.Details, field{Name: oneLine(name), value: r.value(event.Escape(json.RawMessage(raw)), space)})
		}
	}
	return out
}
