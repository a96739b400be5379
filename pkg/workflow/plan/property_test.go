package plan

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// player runs a plan in a random order and keeps watch over it.
type player struct {
	t       *rapid.T
	w       *workflow.Workflow
	p       *Plan
	scripts map[string]*script
	queue   []Step // handed out, and for items being executed
	running []Step // attempts that have begun
	journal []*event.Event
	// states is where the plan stood after each event of the journal.
	states  []string
	settled map[string]bool
	done    map[string]bool // steps that were handed out
	// again is the node that runs once more; empty when none does.
	again string
	rerun map[string]bool
}

func (r *player) tell(e *event.Event) {
	derived := r.p.Apply(e)
	if e.Node == r.again && len(derived) > 0 {
		r.t.Fatalf("of %s, which ran once more, followed %d events", e.Node, len(derived))
	}
	r.note(append([]*event.Event{e}, derived...))
	for _, s := range r.p.Ready() {
		key := fmt.Sprintf("%s %d %d %d %d %t", s.Node, s.Do, s.Iteration, s.Item, s.Attempt, r.again == s.Node)
		if r.done[key] {
			r.t.Fatalf("%s was handed out twice", key)
		}
		r.done[key] = true
		for _, e := range r.w.Edges {
			if e.To == s.Node && !r.settled[e.From] {
				r.t.Fatalf("%s ran before %s", s.Node, e.From)
			}
		}
		for _, from := range r.p.Sources(s.Node) {
			if !r.settled[from] {
				r.t.Fatalf("%s ran before its source %s", s.Node, from)
			}
		}
		r.queue = append(r.queue, s)
	}
	r.queue = slices.DeleteFunc(r.queue, func(s Step) bool { return r.settled[s.Node] && s.Node != r.again })
	if r.again == "" { // a replay knows nothing of a node that runs once more, and need not
		r.states[len(r.states)-1] = where(r.p, r.queue)
	}
}

// note writes events into the journal.
func (r *player) note(events []*event.Event) {
	for _, ev := range events {
		settles := ev.Settles() || ev.IsFailure() || ev.Event == event.NodeCancelled || ev.Event == event.NodeSkipped
		switch {
		case settles && ev.Node == r.again:
			r.again = ""
		case settles && r.settled[ev.Node]:
			r.t.Fatalf("%s settled twice", ev.Node)
		}
		r.settled[ev.Node] = r.settled[ev.Node] || settles
		r.journal = append(r.journal, ev)
		r.states = append(r.states, "") // between an event and what follows of it there is no state
	}
}

// reopen lets a node that is settled run once more.
func (r *player) reopen() {
	var may []string
	for _, id := range r.w.NodeIDs() {
		if r.settled[id] && !r.rerun[id] && !slices.Contains(Unreachable(r.w), id) {
			may = append(may, id)
		}
	}
	if len(may) == 0 || r.again != "" {
		return
	}
	r.again = rapid.SampledFrom(may).Draw(r.t, "again")
	r.rerun[r.again] = true
	r.p.Reopen(r.again)
	r.queue = append(r.queue, r.p.Ready()...)
	if n := len(r.queue); n == 0 || r.queue[n-1].Node != r.again || r.queue[n-1].Do == Ask {
		r.t.Fatalf("%s is not to run once more", r.again)
	}
}

func (r *player) step(s Step) {
	script, n := r.scripts[s.Node], func() *workflow.Node { n, _ := r.w.Node(s.Node); return n }()
	switch {
	case s.Do == Ask:
		r.tell(&event.Event{Event: event.ApprovalResolved, Node: s.Node, Answer: "yes"})
	case s.Do == FanOut:
		r.tell(&event.Event{Event: event.NodeStarted, Node: s.Node, Iteration: s.Iteration, Attempt: 1, Items: &script.items})
	case s.Do == FanIn:
		failed := 0
		for _, bad := range script.bad {
			if bad {
				failed++
			}
		}
		if BatchFails(n.Batch, script.items, failed) {
			r.tell(&event.Event{Event: event.NodeFailed, Node: s.Node, Attempt: 1})
			return
		}
		r.tell(&event.Event{Event: event.NodeCompleted, Node: s.Node, Action: workflow.ActionDefault})
	case s.Item >= 0:
		r.item(s, script)
	default:
		r.running = append(r.running, s)
		r.tell(&event.Event{Event: event.NodeStarted, Node: s.Node, Iteration: s.Iteration, Attempt: s.Attempt})
	}
}

func (r *player) item(s Step, script *script) {
	if script.bad[s.Item] || s.Attempt <= script.retried {
		again := !script.bad[s.Item]
		r.tell(&event.Event{Event: event.NodeFailed, Node: s.Node, Item: &s.Item, Attempt: s.Attempt, WillRetry: &again})
		return
	}
	r.tell(&event.Event{Event: event.ItemCompleted, Node: s.Node, Item: &s.Item, Attempt: s.Attempt})
}

// end ends an attempt that has begun.
func (r *player) end(s Step) {
	script := r.scripts[s.Node]
	yes := true
	switch {
	case s.Attempt <= script.retried:
		r.tell(&event.Event{Event: event.NodeFailed, Node: s.Node, Attempt: s.Attempt, Iteration: s.Iteration, WillRetry: &yes})
	case s.Iteration > 0 && s.Iteration < script.rounds:
		r.tell(&event.Event{Event: event.IterationCompleted, Node: s.Node, Iteration: s.Iteration, Attempt: s.Attempt})
	case script.ends == "error":
		r.tell(&event.Event{Event: event.NodeFailed, Node: s.Node, Attempt: s.Attempt, Iteration: s.Iteration})
	case script.ends == "":
		r.tell(&event.Event{Event: event.NodeCompleted, Node: s.Node, Action: workflow.ActionDefault, Attempt: s.Attempt})
	default:
		r.tell(&event.Event{Event: event.NodeCompleted, Node: s.Node, Action: script.ends, Attempt: s.Attempt})
	}
}

// Whatever the graph, the bodies of its nodes and the results: the plan never gets stuck, no node is settled twice, none
// runs before what it needs or that the start node does not lead to, no step is handed out twice, and replaying any prefix
// of the events leads to where the plan stood then; also when it was halted, or nodes ran once more.
func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, scripts := randomFlow(t)
		p, err := New(w)
		if err != nil {
			t.Fatal(err)
		}
		r := &player{t: t, w: w, p: p, scripts: scripts, settled: map[string]bool{}, done: map[string]bool{}, rerun: map[string]bool{}}
		for _, id := range Unreachable(w) {
			r.settled[id] = true
		}
		r.queue = append(r.queue, p.Ready()...)
		halts := rapid.IntRange(0, 60).Draw(t, "halts after")
		for ; len(r.queue)+len(r.running) > 0 && halts > 0; halts-- {
			if rapid.IntRange(0, 9).Draw(t, "reopens") == 0 {
				r.reopen()
			}
			at := rapid.IntRange(0, len(r.queue)+len(r.running)-1).Draw(t, "next")
			if at < len(r.queue) {
				s := r.queue[at]
				r.queue = slices.Delete(r.queue, at, at+1)
				r.step(s)
				continue
			}
			at -= len(r.queue)
			s := r.running[at]
			r.running = slices.Delete(r.running, at, at+1)
			r.end(s)
		}
		if len(r.queue)+len(r.running) > 0 {
			r.again = "" // it does not come to its end
			r.note(p.Halt("stop"))
			if len(r.journal) > 0 {
				r.states[len(r.states)-1] = where(p, nil)
			}
		}
		if !p.Done() || len(p.Ready()) > 0 {
			t.Fatalf("stuck at %s", where(p, nil))
		}
		again, _ := New(w)
		for i, e := range r.journal {
			again.Apply(e)
			if got := where(again, nil); r.states[i] != "" && got != r.states[i] {
				t.Fatalf("after %d events, the last %s of %s:\nreplayed %s\n  played %s", i+1, e.Event, e.Node, got, r.states[i])
			}
		}
	})
}

// Events that no run writes change nothing that matters: there is no panic, and the plan can still be halted.
func TestEventsThatNoRunWrites(t *testing.T) {
	kinds := []event.Kind{
		event.NodeStarted, event.NodeCompleted, event.NodeReused, event.NodeFailed, event.NodeSkipped, event.NodeCancelled, event.ItemCompleted,
		event.IterationCompleted, event.ApprovalRequested, event.ApprovalResolved, event.NodeProgress, event.RunFinished, "unknown",
	}
	rapid.Check(t, func(t *rapid.T) {
		w, _ := randomFlow(t)
		p, err := New(w)
		if err != nil {
			t.Fatal(err)
		}
		number := rapid.SampledFrom([]int{-1, 0, 1, 2, 3, 7, -1 << 62, 1 << 20})
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			e := &event.Event{
				Event: rapid.SampledFrom(kinds).Draw(t, "kind"), Node: rapid.SampledFrom(append(w.NodeIDs(), "", "other", "n0/x")).Draw(t, "node"),
				Iteration: number.Draw(t, "iteration"), Attempt: number.Draw(t, "attempt"), Action: rapid.SampledFrom([]string{"", "default", "error", "left", "?"}).Draw(t, "action"),
				Answer: rapid.SampledFrom([]string{"", "yes", "no"}).Draw(t, "answer"),
			}
			if rapid.Bool().Draw(t, "with items") {
				n := number.Draw(t, "items")
				e.Items = &n
			}
			if rapid.Bool().Draw(t, "with item") {
				n := number.Draw(t, "item")
				e.Item = &n
			}
			if rapid.Bool().Draw(t, "with retry") {
				again := rapid.Bool().Draw(t, "again")
				e.WillRetry = &again
			}
			p.Apply(e)
			p.Ready()
		}
		p.Halt("stop")
		if !p.Done() {
			t.Fatalf("stuck at %s", where(p, nil))
		}
	})
}

// where is all that decides what a plan does next. Steps that were handed out and have left no event count as ready.
func where(p *Plan, handed []Step) string {
	var due []string
	for _, d := range p.ready {
		due = append(due, fmt.Sprintf("%s/%d/%d/%d/%d", d.step.Node, d.step.Do, d.step.Iteration, d.step.Item, d.step.Attempt))
	}
	for _, s := range handed {
		due = append(due, fmt.Sprintf("%s/%d/%d/%d/%d", s.Node, s.Do, s.Iteration, s.Item, s.Attempt))
	}
	slices.Sort(due)
	text := fmt.Sprint(due)
	for i, s := range p.nodes {
		text += fmt.Sprintf(" %s:%d", p.g.ids[i], s.phase)
		if s.body != nil {
			text += fmt.Sprintf("%+v", *s.body)
		}
	}
	return text
}
