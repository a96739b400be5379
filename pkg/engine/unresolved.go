package engine

import (
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// explain adds to the fault of templates without a value what to read instead of the result of a jq node whose filter had several.
func (fr *frame) explain(f *fault.Fault) {
	for _, missing := range f.Missing {
		ref, ok := template.ParseExpression(missing)
		if !ok || len(ref.Path) == 0 || ref.Path[0].Key != "result" {
			continue
		}
		n, ok := fr.Workflow.Node(ref.Root)
		if !ok || fr.Kinds[n.Type].Name != "jq" || n.Batch != nil {
			continue
		}
		if v, ended := fr.values[n.ID]; ended && !v.failed {
			f.SuggestAs(f) // the lists may be those of another fault
			f.Suggest("The filter of node %s has several results: read ${%s.results}, or write the filter as [FILTER] to get one list", n.ID, n.ID)
		}
	}
}
