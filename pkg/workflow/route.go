package workflow

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// endOfRoute is what stands in a step's next when nothing comes after it.
const endOfRoute = "end"

// route is what a step says of where to go on. Without next it is the step below.
type route struct {
	id            string
	at            int
	next, onError *parameter
}

// target is a step that another leads to when it ends with an action.
type target struct {
	id     string
	at     int
	action string
}

// router works out which step follows which.
type router struct {
	*converter
	routes []route
	// steps is where each id stands; targets are those of each step.
	steps   map[string]int
	targets [][]target
	reach   reach
	broken  bool
}

// reach says of each step that one leads to it, that one does so with another action than default, and that one does so
// which is not the one above.
type reach struct{ reached, branched, jumped []bool }

func newReach(n int) reach { return reach{make([]bool, n), make([]bool, n), make([]bool, n)} }

func (r reach) lead(from, to int, action string) {
	r.reached[to] = true
	r.branched[to] = r.branched[to] || action != ActionDefault
	r.jumped[to] = r.jumped[to] || to != from+1
}

// mustSay says whether a step must say where it goes on, although it is to the one below: it is the target of a route.
func (r reach) mustSay(i int) bool { return r.branched[i] || r.jumped[i] }

// edges writes the edges. With a start node, steps that nothing leads to may be there.
func (c *converter) edges(routes []route, start bool) {
	n := len(routes)
	r := &router{converter: c, routes: routes, steps: map[string]int{}, targets: make([][]target, n), reach: newReach(n)}
	for i, route := range routes {
		r.steps[route.id] = i
	}
	for i := range routes {
		r.said(i)
	}
	for i := range routes {
		r.unsaid(i)
	}
	for i := range routes {
		if i > 0 && !r.reach.reached[i] && !start && !r.broken {
			c.addAt(routes[i].at, item("nodes", i), "Nothing leads to step %q", routes[i].id).
				Suggest("Name it in the next or on-error of a step, or take it out")
		}
	}
	r.write()
}

// said takes the targets that a step names.
func (r *router) said(i int) {
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

// unsaid lets a step that does not say where to go on go on to the one below, where no doubt is possible.
func (r *router) unsaid(i int) {
	route := r.routes[i]
	if route.next != nil || i+1 == len(r.routes) {
		return
	}
	below := r.routes[i+1].id
	switch {
	case r.reach.mustSay(i):
		r.broken = true
		r.addAt(route.at, item("nodes", i), "Step %q is reached by a route, and does not say where to go on", route.id).
			Suggest("Add - next: %s to go on with the step below, or - next: end", below)
	case r.reach.branched[i+1]:
		r.broken = true
		r.addAt(route.at, item("nodes", i), "Step %q would go on to %q below it, which is there for the action of another step", route.id, below).
			Suggest("Add - next: end, or - next: with the step that comes after it; - next: %s if that is meant", below)
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
	f := r.addAt(t.at, "", "There is no step %q for %s", shorten(t.id), key)
	if t.id == endOfRoute {
		f.Suggest("Name the step that takes the failure; without on-error a failure ends the run")
	} else if near, ok := fault.Nearest(t.id, ids); ok {
		f.Suggest("Did you mean %q?", near)
	}
	f.Available = ids[:min(len(ids), maxListed)]
}

// maxListed is how many names a fault lists.
const maxListed = 30

// named are the targets that a next or an on-error names: one step; several in a list, which all follow; several with
// commas between, of which the step chooses one by the action of its name; or a mapping of actions to steps.
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
	f := r.addAt(p.at, "", "%s names no step", p.name)
	if p.name == "next" {
		f.Suggest("Write - next: id, - next: end, - next: [id, id] for steps that all follow, or - next: {default: id, action: id}")
		return nil
	}
	f.Suggest("Write - on-error: id, with the step that takes the failure")
	return nil
}

func (r *router) list(v yaml.Node, action string) (targets []target) {
	for _, n := range v.Items {
		if n.Text == "" {
			r.broken = true
			r.addAt(n.At, "", "next names something that is no step").Suggest("Write the ids of steps: [id, id]")
			continue
		}
		targets = append(targets, target{n.Text, n.At, action})
	}
	return targets
}

// actions are the targets of a mapping. It says of the action default too where that leads: else it would end there,
// unsaid.
func (r *router) actions(v yaml.Node) (targets []target) {
	if _, ok := v.Get(ActionDefault); !ok {
		r.broken = true
		r.addAt(v.At, "", "next does not say where the action default leads").Suggest("Add default: with the step that follows, or default: end")
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
