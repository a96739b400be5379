package plan

import (
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// AsksStatus reports whether the workflow asks for the exit status of a node: by an error edge, a retry, or a template that reads
// exit_code. Such a node fails with any status other than 0, also that of a search which finds nothing.
func (p *Plan) AsksStatus(id string) bool {
	i := p.g.index[id]
	return p.Routes(id, workflow.ActionError) || p.g.status[i] || Policy(&p.w.Nodes[i]) != nil
}

// readOutputs notes the exit statuses that the outputs of the workflow read.
func (g *graph) readOutputs(w *workflow.Workflow) {
	for _, out := range w.Outputs {
		for _, part := range template.Parse(template.Source(out.Source)) {
			if part.Expr == nil {
				continue
			}
			part.Expr.Refs(func(ref template.Ref, _ bool) {
				_, isInput := w.Inputs[ref.Root]
				if i, ok := g.index[ref.Root]; ok && !isInput && readsStatus(ref) {
					g.status[i] = true
				}
			})
		}
	}
}

// readsStatus reports whether a reference reads the exit status of a node, or of an item of its batch.
func readsStatus(ref template.Ref) bool {
	path := ref.Path
	if len(path) > 2 && path[0].Key == "results" {
		path = path[2:]
	}
	return len(path) > 0 && path[0].Key == "exit_code"
}
