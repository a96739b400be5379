package plan

import (
	"slices"

	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Handles reports whether an error edge leaves a node.
func (p *Plan) Handles(id string) bool { return !p.only && p.Routes(id, workflow.ActionError) }

// Routes reports whether an edge for an action leads from a node to another one.
func (p *Plan) Routes(id, action string) bool {
	return slices.ContainsFunc(p.g.routes[p.g.index[id]], func(r route) bool { return r.action == action })
}

// Takes reports whether a node may end with an action. A node that has edges for actions other than default and error may end only
// with the actions of its edges, and with [workflow.EndOfBranch].
func (p *Plan) Takes(id, action string) bool {
	actions := p.Actions(id)
	return !slices.ContainsFunc(actions, workflow.Chooses) || action == workflow.EndOfBranch || slices.Contains(actions, action)
}

// Actions returns the actions of a node's edges in alphabetical order.
func (p *Plan) Actions(id string) []string {
	i := p.g.index[id]
	actions := slices.Clone(p.g.ends[i])
	for _, r := range p.g.routes[i] {
		actions = append(actions, r.action)
	}
	slices.Sort(actions)
	return slices.Compact(actions)
}
