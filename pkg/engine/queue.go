package engine

import (
	"container/heap"

	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// due is a step of a frame that may start.
type due struct {
	l        *frame
	step     plan.Step
	priority int
	seq      int
}

// queue holds what may start. What takes a place among the run's jobs waits for one, that with most work behind it first;
// what takes none, such as the items of a batch that has a place already, waits for nothing.
type queue struct {
	free   []due
	placed byPriority
	seq    int
}

func (q *queue) add(d due, takesPlace bool) {
	q.seq++
	d.seq = q.seq
	if takesPlace {
		heap.Push(&q.placed, d)
		return
	}
	q.free = append(q.free, d)
}

// next takes the next step; place says whether there is a free one.
func (q *queue) next(place bool) (due, bool) {
	if len(q.free) > 0 {
		d := q.free[0]
		q.free = q.free[1:]
		return d, true
	}
	if place && len(q.placed) > 0 {
		d, ok := heap.Pop(&q.placed).(due)
		return d, ok
	}
	return due{}, false
}

// push puts a step into the queue.
func (e *execution) push(l *frame, s plan.Step) {
	d := due{l: l, step: s, priority: l.priority + l.plan.Rank(s.Node)}
	a := l.running[s.Node]
	switch {
	case a != nil && a.waitsForSlot && s.Item >= 0:
		if a.heldBack = append(a.heldBack, s); len(a.heldBack) == 1 { // the first of them waits for the place
			d.step = plan.Step{Node: s.Node, Do: plan.FanOut, Item: -1}
			e.queue.add(d, true)
		}
	case a != nil && s.Retry != nil && a.delays[s.Item] > 0:
		e.wait(d, a)
	default:
		e.queue.add(d, e.needsSlot(l, s))
	}
}

// needsSlot says whether a step needs a place of its own among the jobs: an attempt at a node and the whole of a batch
// do, but not what runs in a sub-workflow's node, whose own nodes do.
func (e *execution) needsSlot(l *frame, s plan.Step) bool {
	if s.Item >= 0 || s.Do != plan.Attempt && s.Do != plan.FanOut {
		return false
	}
	n, _ := l.Workflow.Node(s.Node)
	return l.Kinds[n.Type].Name != workflow.SubType
}

// byPriority is a heap: the highest priority first, and among equals what came first.
type byPriority []due

func (h byPriority) Len() int { return len(h) }
func (h byPriority) Less(i, j int) bool {
	if h[i].priority != h[j].priority {
		return h[i].priority > h[j].priority
	}
	return h[i].seq < h[j].seq
}
func (h byPriority) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is for package heap.
func (h *byPriority) Push(x any) {
	if d, ok := x.(due); ok {
		*h = append(*h, d)
	}
}

// Pop is for package heap.
func (h *byPriority) Pop() any {
	old := *h
	d := old[len(old)-1]
	*h = old[:len(old)-1]
	return d
}
