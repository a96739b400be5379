package engine

import (
	"encoding/json"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// boundNode is a node, or an item of its batch, with all that its templates say.
type boundNode struct {
	*node.Call
	// sub is the workflow that a node of that type runs.
	sub    *Sub
	digest string
}

// bind resolves the templates of a node.
func (e *execution) bind(l *frame, a *nodeRun, b *node.Binding) (*boundNode, error) {
	if a.node.Loop != nil && a.iteration == 1 {
		b.Scope = without(a.node.ID, l, b.Scope)
	}
	resolved, err := node.Prepare(a.node, a.kind, b)
	if err != nil {
		return nil, err
	}
	p := &boundNode{Call: resolved}
	if a.kind.Name == workflow.SubType {
		if p.sub, err = e.sub(l, a.node, resolved.Params); err != nil {
			return nil, err
		}
	}
	p.digest = e.digest(l, a, p)
	return p, nil
}

// without is a scope in which a node has put out nothing yet: what an earlier execution of it put out is not for the
// first iteration of its loop.
func without(id string, l *frame, scope template.Scope) template.Scope {
	if _, ok := l.inputs[id]; ok { // which is what templates mean by that name
		return scope
	}
	return func(ref template.Ref) (json.RawMessage, template.Availability) {
		if ref.Root == id {
			return nil, template.Absent
		}
		return scope(ref)
	}
}

// sub is the workflow that a node runs.
func (e *execution) sub(l *frame, n *workflow.Node, params json.RawMessage) (*Sub, error) {
	if sub, ok := l.Subs[n.ID]; ok {
		return sub, nil
	}
	named, ok := workflow.SubOf(params)
	if !ok || named.Ref == "" || e.Load == nil {
		return nil, fault.New(fault.Validation, "Node %q names no workflow to run", n.ID).
			Suggest(`Set "workflow" to the name of a saved workflow or a draft, or to a path`)
	}
	return e.Load(named.Ref)
}

// failure is the result of what failed before it could be tried.
func failure(err error) *node.Result {
	return &node.Result{Action: workflow.ActionError, Fault: fault.From(err)}
}

// noteUnresolved notes the templates that were left as they were written.
func (e *execution) noteUnresolved(t *task) {
	for _, u := range t.bound.Unresolved {
		e.degrade(t, fmt.Sprintf("node %s: template %s not resolved: %s", t.l.path(t.a.node.ID), u.Expr, u.Reason))
	}
}
