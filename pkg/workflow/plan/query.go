package plan

import (
	"slices"
)

// Rank returns the length of the longest chain of nodes behind a node.
func (p *Plan) Rank(id string) int { return p.rank[p.g.index[id]] }

// Order returns the nodes, each after all nodes that it waits for.
func (p *Plan) Order() []string {
	sorted, _ := p.g.order()
	ids := make([]string, len(sorted))
	for k, i := range sorted {
		ids[k] = p.g.ids[i]
	}
	return ids
}

// Waits returns the nodes that a node waits for: those with an edge to it, and those that it reads.
func (p *Plan) Waits(id string) []string {
	i := p.g.index[id]
	var ids []string
	for from, routes := range p.g.routes {
		reads := slices.ContainsFunc(p.g.reads[i], func(r reading) bool { return r.node == from })
		if reads || slices.ContainsFunc(routes, func(r route) bool { return r.to == i }) {
			ids = append(ids, p.g.ids[from])
		}
	}
	return ids
}

// Done reports whether every node is settled.
func (p *Plan) Done() bool { return p.left == 0 }

// Settled reports whether a node is settled. It remains so when it is reopened.
func (p *Plan) Settled(id string) bool { return p.nodes[p.g.index[id]].phase.settled() }

// Skipped reports whether a node was skipped.
func (p *Plan) Skipped(id string) bool { return p.nodes[p.g.index[id]].phase == skipped }

// Sources returns the nodes that made a node run: those with a taken edge to it and those that it reads.
func (p *Plan) Sources(id string) []string {
	i := p.g.index[id]
	var ids []string
	for _, n := range p.nodes[i].sources {
		ids = append(ids, p.g.ids[n])
	}
	for _, r := range p.g.reads[i] {
		ids = append(ids, p.g.ids[r.node])
	}
	return ids
}

// Leaves returns the completed nodes that no other node follows. Their outputs are the outputs of a workflow that declares
// none.
func (p *Plan) Leaves() []string {
	var ids []string
	for i, s := range p.nodes {
		if s.phase == completed && !p.Routes(p.g.ids[i], s.action) && !p.readByRun(i) {
			ids = append(ids, p.g.ids[i])
		}
	}
	return ids
}

// readByRun reports whether a completed node reads this one, for nodes that are ordered by templates alone.
func (p *Plan) readByRun(i int) bool {
	if len(p.g.routes[i]) > 0 || p.g.arrivals[i] > 0 {
		return false
	}
	return slices.ContainsFunc(p.g.readers[i], func(r reading) bool { return p.nodes[r.node].phase == completed })
}
