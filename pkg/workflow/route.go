package workflow

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// endOfRoute is the value of next in a step that no step follows.
const endOfRoute = "end"

// route holds the next and on-error of a step. Without next, the step below follows.
type route struct {
	id            string
	at            int
	next, onError *parameter
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
	// steps maps ids to indexes, and targets holds the targets of each step.
	steps   map[string]int
	targets [][]target
	reach   reach
	broken  bool
}

// reach holds, for each step, whether a step leads to it, whether one does with another action than default, and whether one
// other than the step above does.
type reach struct{ reached, branched, jumped []bool }

func newReach(n int) reach { return reach{make([]bool, n), make([]bool, n), make([]bool, n)} }

func (r reach) lead(from, to int, action string) {
	r.reached[to] = true
	r.branched[to] = r.branched[to] || action != ActionDefault
	r.jumped[to] = r.jumped[to] || to != from+1
}

// needsNext reports whether a step must have a next even if the step below follows, because it is the target of a route.
func (r reach) needsNext(i int) bool { return r.branched[i] || r.jumped[i] }

// edges writes the edges. With a start node, steps that no step leads to are allowed.
func (c *converter) edges(routes []route, start bool) {
	n := len(routes)
	r := &router{converter: c, routes: routes, steps: map[string]int{}, targets: make([][]target, n), reach: newReach(n)}
	for i, route := range routes {
		r.steps[route.id] = i
	}
	for i := range routes {
		r.explicit(i)
	}
	for i := range routes {
		r.implicit(i)
	}
	for i := range routes {
		if i > 0 && !r.reach.reached[i] && !start && !r.broken {
			c.addAt(routes[i].at, item("nodes", i), "Nothing leads to step %q", routes[i].id).
				Suggest("Name it in the next or on-error of a step, or remove it")
		}
	}
	r.write()
}

// explicit adds the targets that a step names.
func (r *router) explicit(i int) {
	for _, p := range []*parameter{r.routes[i].next, r.routes[i].onError} {
		if p == nil {
			continue
		}
		for _, t := range r.named(*p) {
			to, ok := r.steps[t.id]
			if t.id == endOfRoute && p.name == "next" {
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
	case r.reach.branched[i+1]:
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
	if t.id == endOfRoute {
		f.Suggest("Name the step that handles the failure; without on-error a failure ends the run")
	} else if near, ok := fault.Nearest(t.id, ids); ok {
		f.Suggest("Did you mean %q?", near)
	}
	f.Available = ids[:min(len(ids), maxListed)]
}

// maxListed bounds the names that a fault lists.
const maxListed = 30

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

// actions returns the targets of a mapping. It reports a mapping without the action default, which would end the route
// silently.
func (r *router) actions(v yaml.Node) (targets []target) {
	if _, ok := v.Get(ActionDefault); !ok {
		r.broken = true
		r.addAt(v.At, "", "next has no step for the action default").Suggest("Add default: with the step that follows, or default: end")
	}
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
		for _, t := range r.targets[i] {
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
