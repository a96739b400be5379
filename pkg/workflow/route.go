package workflow

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow/program"
	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// route holds the next and on-error of a step. Without next, the step below follows.
type route struct {
	id            string
	at            int
	next, onError *parameter
	// code is what the step's code assigns to next.
	code program.Next
	// open reports whether its code may name any step: it is in another file, or the name is known only when it runs.
	open bool
}

// target is a step that follows another one that ends with the given action.
type target struct {
	id     string
	at     int
	action string
}

// router computes the edges between steps.
type router struct {
	*converter
	routes []route
	// steps maps ids to indexes. targets holds the targets of each step, and ends those with which its branch ends.
	steps         map[string]int
	targets, ends [][]target
	reach         reach
	broken        bool
}

// reach holds, for each step, whether a step leads to it, and whether one other than the step above does.
type reach struct {
	reached, jumped []bool
	// branches has, for each step, 0 if no step leads to it with another action than default, i+1 if only the code of step i does,
	// and otherwise -1.
	branches []int
}

func newReach(n int) reach { return reach{make([]bool, n), make([]bool, n), make([]int, n)} }

func (r reach) lead(from, to int, action string) {
	r.reached[to] = true
	if action != ActionDefault {
		r.branches[to] = -1
	}
	r.jumped[to] = r.jumped[to] || to != from+1
}

// leadByCode is lead for an action that the code of the step names.
func (r reach) leadByCode(from, to int) {
	r.reached[to] = true
	if r.branches[to] == 0 {
		r.branches[to] = from + 1
	} else if r.branches[to] != from+1 {
		r.branches[to] = -1
	}
	r.jumped[to] = r.jumped[to] || to != from+1
}

// needsNext reports whether a step must have a next even if the step below follows, because it is the target of a route.
func (r reach) needsNext(i int) bool { return r.branches[i] != 0 || r.jumped[i] }

// branchBelow reports whether the step below a step is the target of another step's action.
func (r reach) branchBelow(i int) bool { return r.branches[i+1] != 0 && r.branches[i+1] != i+1 }

// edges writes the edges. With a start node, steps that no step leads to are allowed.
func (c *converter) edges(routes []route, start bool) {
	n := len(routes)
	r := &router{converter: c, routes: routes, steps: map[string]int{}, targets: make([][]target, n), ends: make([][]target, n), reach: newReach(n)}
	for i, route := range routes {
		r.steps[route.id] = i
	}
	for i := range routes {
		r.explicit(i)
	}
	for i := range routes {
		r.implicit(i)
	}
	open := slices.ContainsFunc(routes, func(r route) bool { return r.open }) // then the check finds such steps
	for i := range routes {
		if i > 0 && !r.reach.reached[i] && !start && !r.broken && !open {
			c.addAt(routes[i].at, item("nodes", i), "Nothing leads to step %q", routes[i].id).
				Suggest("Name it in the next or on-error of a step, or remove it")
		}
	}
	r.write()
}

// explicit adds the targets that a step names. Those that its code names lead to steps too, but are no edges of the file.
func (r *router) explicit(i int) {
	for _, p := range []*parameter{r.routes[i].next, r.routes[i].onError} {
		if p == nil {
			continue
		}
		for _, t := range r.named(*p) {
			to, ok := r.steps[t.id]
			if t.id == EndOfBranch && p.name == "next" {
				r.ends[i] = append(r.ends[i], t)
				continue
			}
			if !ok {
				r.unknown(p.name, t)
				continue
			}
			r.targets[i] = append(r.targets[i], t)
			r.reach.lead(i, to, t.action)
		}
	}
	for _, l := range r.routes[i].code.Literals {
		taken := slices.ContainsFunc(r.targets[i], func(t target) bool { return t.action == l.Text })
		if to, ok := r.steps[l.Text]; ok && !taken {
			r.reach.leadByCode(i, to)
		}
	}
}

// implicit adds the step below as the target of a step without next. It reports a fault if that may not be intended.
func (r *router) implicit(i int) {
	route := r.routes[i]
	if route.next != nil || i+1 == len(r.routes) {
		return
	}
	below := r.routes[i+1].id
	switch {
	case r.reach.needsNext(i):
		r.broken = true
		r.addAt(route.at, item("nodes", i), "Step %q is the target of a route, but has no next", route.id).
			Suggest("Add - next: %s to continue with the step below, or - next: end", below)
	case r.reach.branchBelow(i):
		r.broken = true
		r.addAt(route.at, item("nodes", i), "Step %q would continue with %q below it, which is the target of another step's action", route.id, below).
			Suggest("Add - next: end, - next: with another step, or - next: %s if that is intended", below)
	default:
		r.targets[i] = append([]target{{below, route.at, ActionDefault}}, r.targets[i]...)
		r.reach.lead(i, i+1, ActionDefault)
	}
}

func (r *router) unknown(key string, t target) {
	r.broken = true
	ids := make([]string, 0, len(r.routes))
	for _, route := range r.routes {
		ids = append(ids, route.id)
	}
	f := r.addAt(t.at, "", "Unknown step %q in %s", shorten(t.id), key)
	if t.id == EndOfBranch {
		f.Suggest("Name the step that handles the failure; without on-error a failure ends the run")
	} else if near, ok := fault.Nearest(t.id, ids); ok {
		f.Suggest("Did you mean %q?", near)
	}
	f.Offer(t.id, ids)
}

// named returns the targets of a next or an on-error. Its value is one step; a list of steps, which all follow; steps separated
// by commas, from which the step's action selects one by name; or a mapping of actions to steps.
func (r *router) named(p parameter) []target {
	switch v := p.value; {
	case p.json != "":
	case v.Kind == yaml.Mapping && p.name == "next":
		return r.actions(v)
	case v.Kind == yaml.List && p.name == "next":
		return r.list(v, ActionDefault)
	case v.Kind != yaml.Null && v.Text != "":
		action := ActionDefault
		if p.name == "on-error" {
			action = ActionError
		}
		if p.name == "on-error" || !strings.Contains(v.Text, ",") {
			return []target{{strings.TrimSpace(v.Text), v.At, action}}
		}
		var choice []target
		for id := range strings.SplitSeq(v.Text, ",") {
			id = strings.TrimSpace(id)
			choice = append(choice, target{id, v.At, id})
		}
		return choice
	}
	r.broken = true
	f := r.addAt(p.at, "", "%s does not name a step", p.name)
	if p.name == "next" {
		f.Suggest("Write - next: id, - next: end, - next: [id, id] for steps that all follow, or - next: {default: id, action: id}")
		return nil
	}
	f.Suggest("Write - on-error: id, with the step that handles the failure")
	return nil
}

func (r *router) list(v yaml.Node, action string) (targets []target) {
	for _, n := range v.Items {
		if n.Text == "" {
			r.broken = true
			r.addAt(n.At, "", "next contains a value that is not a step").Suggest("Write the ids of steps: [id, id]")
			continue
		}
		targets = append(targets, target{n.Text, n.At, action})
	}
	return targets
}

// actions returns the targets of a mapping.
func (r *router) actions(v yaml.Node) (targets []target) {
	for _, e := range v.Entries {
		if e.Value.Kind == yaml.List {
			targets = append(targets, r.list(e.Value, e.Key)...)
			continue
		}
		targets = append(targets, r.list(yaml.Node{Items: []yaml.Node{e.Value}}, e.Key)...)
	}
	return targets
}

// write writes the edges in the order of the steps.
func (r *router) write() {
	if len(r.routes) < 2 {
		return
	}
	r.open('[', "edges")
	for i, route := range r.routes {
		for _, t := range append(r.targets[i], r.choices(i)...) {
			r.places.edges = append(r.places.edges, edgePlace{route.at, t.at})
			r.item()
			r.words("from", route.id)
			r.words("to", t.id)
			if t.action != ActionDefault {
				r.words("action", t.action)
			}
			r.close('}')
		}
	}
	r.close(']')
}

// choices returns the ends of a step that must be written: those of a step whose action chooses what follows. Without other
// actions, a missing edge ends the branch too.
func (r *router) choices(i int) []target {
	chooses := func(t target) bool { return Chooses(t.action) }
	if len(r.routes[i].code.Literals) == 0 && !slices.ContainsFunc(r.targets[i], chooses) && !slices.ContainsFunc(r.ends[i], chooses) {
		return nil
	}
	return r.ends[i]
}
