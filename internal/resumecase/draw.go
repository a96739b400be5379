package resumecase

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Random makes workflows and changes them.
type Random struct {
	*rand.Rand
	// size bounds the workflows; labels is the number of labels so far.
	size, labels int
}

// New returns the source of the workflows of a seed. Those of small seeds are small.
func New(seed uint64) *Random {
	return &Random{Rand: rand.New(rand.NewPCG(seed, 0)), size: 1 + int(seed%5)}
}

// Once reports true once in n times.
func (r *Random) Once(n int) bool { return r.IntN(n) == 0 }

// label returns a label that no other node has.
func (r *Random) label() string {
	r.labels++
	return fmt.Sprintf("l%d", r.labels)
}

// Flow returns a random workflow.
func (r *Random) Flow() *Flow { return r.flow(1+r.IntN(r.size), 0) }

func (r *Random) flow(nodes, depth int) *Flow {
	f := &Flow{}
	edges := nodes > 1 && r.Once(2)
	for i := range nodes {
		n := &Node{ID: fmt.Sprintf("n%d", i), Type: "one", Label: r.label()}
		f.Nodes = append(f.Nodes, n)
		if r.Once(3) {
			n.Type = "two"
		}
		for _, m := range f.Nodes[:i] {
			if r.Once(3) {
				n.Reads = append(n.Reads, m.ID)
			}
		}
		r.body(n, depth, edges && i < nodes-1)
	}
	for i := 1; edges && i < nodes; i++ {
		for j := range i {
			if r.Once(3) || j == i-1 && !r.Once(4) {
				f.Edges = append(f.Edges, Edge{f.Nodes[j].ID, f.Nodes[i].ID, r.action(f.Nodes[j])})
			}
		}
	}
	for _, n := range f.Nodes { // a failure that no edge takes ends the run
		if n.End == Bad && !slices.ContainsFunc(f.Edges, func(e Edge) bool { return e.From == n.ID && e.Action == "error" }) {
			n.End = Well
			for i := range f.Edges {
				if f.Edges[i].From == n.ID {
					f.Edges[i].Action = "default"
				}
			}
		}
	}
	if len(f.Edges) == 0 {
		for _, n := range f.Nodes {
			if n.End == Fork {
				n.End = Well
			}
		}
	}
	return f
}

// action returns the action of an edge from a node.
func (r *Random) action(n *Node) string {
	switch {
	case n.End == Fork:
		return []string{"left", "right"}[r.IntN(2)]
	case n.End == Bad && !r.Once(4):
		return "error"
	}
	return "default"
}

// body draws how a node runs. forks tells whether it may end in other ways than well.
func (r *Random) body(n *Node, depth int, forks bool) {
	n.End, n.Items, n.Parallel, n.Rounds, n.Until, n.Sub, n.Ask, n.Cache, n.Long, n.Tries = Well, nil, 0, 0, false, nil, "", false, false, 0
	if depth < 2 && r.Once(3) {
		n.Sub = r.flow(1+r.IntN(min(3, r.size)), depth+1)
	}
	switch r.IntN(5) {
	case 0:
		n.Items = []string{}
		for i := range r.IntN(4) {
			n.Items = append(n.Items, r.item(n, i))
		}
		n.Parallel = r.IntN(3)
	case 1:
		n.Rounds, n.Until = 1+r.IntN(3), n.Sub == nil && r.Once(2)
	default:
		if forks && n.Sub == nil {
			n.End = []End{Well, Well, Fork, Bad}[r.IntN(4)]
		}
	}
	if n.Items == nil && r.Once(5) {
		n.Ask = r.label() + "?"
	}
	if n.Sub == nil {
		n.Cache, n.Long = n.Rounds == 0 && r.Once(6), r.Once(30)
		if n.End != Fork && r.Once(4) {
			if n.Tries = 2; n.End == Well && !slices.ContainsFunc(n.Items, func(item string) bool { return strings.HasPrefix(item, "wrong") }) {
				n.End = Flaky
			}
		}
	}
}

// item draws an item of a batch. Not all of them may be bad.
func (r *Random) item(n *Node, i int) string {
	if i > 0 && n.Sub == nil && n.End == Well && r.Once(4) {
		return "wrong" + r.label()
	}
	return r.label()
}

// all returns a workflow and those in it, with their depths.
func all(f *Flow, depth int) (flows []*Flow, depths []int) {
	flows, depths = []*Flow{f}, []int{depth}
	for _, n := range f.Nodes {
		if n.Sub != nil {
			fs, ds := all(n.Sub, depth+1)
			flows, depths = append(flows, fs...), append(depths, ds...)
		}
	}
	return flows, depths
}

// Change returns a workflow that is changed in one place, and says how.
func (r *Random) Change(f *Flow) (*Flow, string) {
	for {
		changed := f.clone()
		flows, depths := all(changed, 0)
		at := r.IntN(len(flows))
		if how := r.change(flows[at], depths[at]); how != "" {
			return changed, how
		}
	}
}

// clone returns a copy of a workflow.
func (f *Flow) clone() *Flow {
	c := &Flow{Edges: slices.Clone(f.Edges)}
	for _, n := range f.Nodes {
		m := *n
		m.Reads, m.Items = slices.Clone(n.Reads), slices.Clone(n.Items)
		if n.Sub != nil {
			m.Sub = n.Sub.clone()
		}
		c.Nodes = append(c.Nodes, &m)
	}
	return c
}

// change changes a workflow in one place, or returns "".
func (r *Random) change(f *Flow, depth int) string {
	i := r.IntN(len(f.Nodes))
	n := f.Nodes[i]
	what := []string{"label", "type", "read", "items", "parallel", "rounds", "tries", "purpose", "question", "cache", "edge", "remove", "add", "body", "limits", "spelling"}[r.IntN(16)]
	switch what {
	case "label":
		n.Label = r.label()
	case "type":
		if n.Sub != nil {
			return ""
		}
		n.Type = map[string]string{"one": "two", "two": "one"}[n.Type]
	case "read":
		if i == 0 {
			return ""
		}
		m := f.Nodes[r.IntN(i)]
		if at := slices.Index(n.Reads, m.ID); at >= 0 {
			n.Reads = slices.Delete(n.Reads, at, at+1)
		} else {
			n.Reads = append(n.Reads, m.ID)
		}
	case "items":
		if n.Items == nil {
			return ""
		}
		switch k := len(n.Items); {
		case r.Once(2) || k == 0:
			n.Items = append(n.Items, r.item(n, k))
		case r.Once(2) && k > 1:
			n.Items = slices.Delete(n.Items, k-1, k)
		default:
			n.Items[r.IntN(k)] = r.label()
		}
	case "parallel":
		if n.Items == nil {
			return ""
		}
		n.Parallel = (n.Parallel + 1) % 3
	case "rounds":
		if n.Rounds == 0 {
			return ""
		}
		n.Rounds = 1 + n.Rounds%4
	case "tries":
		if n.Sub != nil || n.End == Flaky {
			return ""
		}
		n.Tries = (n.Tries + 2) % 4
	case "purpose":
		n.Purpose = r.label()
	case "limits":
		n.Limits = !n.Limits
	case "spelling":
		n.Spelled = !n.Spelled
	case "question":
		if n.Items != nil {
			return ""
		}
		n.Ask = r.label() + "?"
	case "cache":
		if n.Sub != nil || n.Rounds > 0 {
			return ""
		}
		n.Cache = !n.Cache
	case "edge":
		return r.edge(f, n, i)
	case "remove":
		if len(f.Nodes) == 1 || slices.ContainsFunc(f.Edges, func(e Edge) bool { return e.To == n.ID && e.Action == "error" }) {
			return ""
		}
		f.Nodes = slices.Delete(f.Nodes, i, i+1)
		f.Edges = slices.DeleteFunc(f.Edges, func(e Edge) bool { return e.From == n.ID || e.To == n.ID })
		for _, m := range f.Nodes {
			m.Reads = slices.DeleteFunc(m.Reads, func(id string) bool { return id == n.ID })
			if len(f.Edges) == 0 && m.End == Fork {
				m.End = Well
			}
		}
	case "add":
		m := &Node{ID: "m" + r.label(), Type: "one", Label: r.label(), Reads: []string{n.ID}}
		r.body(m, depth, false)
		f.Nodes = append(f.Nodes, m)
		if len(f.Edges) > 0 {
			f.Edges = append(f.Edges, Edge{n.ID, m.ID, r.action(n)})
		}
	case "body":
		if n.End == Fork || n.End == Bad {
			return ""
		}
		r.body(n, depth, false)
	}
	return what + " of " + n.ID
}

// edge adds or removes an edge to a node.
func (r *Random) edge(f *Flow, n *Node, i int) string {
	if len(f.Edges) == 0 || i == 0 {
		return ""
	}
	m := f.Nodes[r.IntN(i)]
	at := slices.IndexFunc(f.Edges, func(e Edge) bool { return e.From == m.ID && e.To == n.ID })
	switch {
	case at < 0:
		f.Edges = append(f.Edges, Edge{m.ID, n.ID, r.action(m)})
		return "edge to " + n.ID
	case len(f.Edges) > 1 && f.Edges[at].Action != "error":
		f.Edges = slices.Delete(f.Edges, at, at+1)
		return "no edge to " + n.ID
	}
	return ""
}

// Asks returns the paths of the nodes that ask, without the numbers of items and iterations.
func (f *Flow) Asks() (paths []string) {
	for _, n := range f.Nodes {
		if n.Ask != "" {
			paths = append(paths, n.ID)
		}
		if n.Sub != nil {
			for _, path := range n.Sub.Asks() {
				paths = append(paths, n.ID+"/"+path)
			}
		}
	}
	return paths
}

// Uncached returns a copy of a workflow whose inner nodes are not cached.
func (f *Flow) Uncached() *Flow {
	c := f.clone()
	for _, n := range c.Nodes {
		if n.Sub != nil {
			flows, _ := all(n.Sub, 1)
			for _, inner := range flows {
				for _, m := range inner.Nodes {
					m.Cache = false
				}
			}
		}
	}
	return c
}

// String returns the workflow as JSON.
func (f *Flow) String() string {
	raw, _ := json.MarshalIndent(f.JSON(), "", " ")
	return string(raw)
}
