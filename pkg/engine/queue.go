package engine

import (
	"container/heap"

	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// dueStep is a step of a frame that may begin.
type dueStep struct {
	frame    *frame
	step     plan.Step
	priority int
	seq      int
}

// queue holds the steps that may begin. Steps that need a slot wait for one, those with the longest chain of nodes behind
// them first. Steps that need none, such as the items of a batch that has a slot, come at once.
type queue struct {
	free    []dueStep
	slotted byPriority
	seq     int
}

func (q *queue) add(d dueStep, needsSlot bool) {
	q.seq++
	d.seq = q.seq
	if needsSlot {
		heap.Push(&q.slotted, d)
		return
	}
	q.free = append(q.free, d)
}

// next removes the next step and returns it. slotFree reports whether a slot is free.
func (q *queue) next(slotFree bool) (dueStep, bool) {
	if len(q.free) > 0 {
		d := q.free[0]
		q.free = q.free[1:]
		return d, true
	}
	if slotFree && len(q.slotted) > 0 {
		d, ok := heap.Pop(&q.slotted).(dueStep)
		return d, ok
	}
	return dueStep{}, false
}

// byPriority is a heap: the highest priority first, and the oldest first among equals.
type byPriority []dueStep

func (h byPriority) Len() int { return len(h) }
func (h byPriority) Less(i, j int) bool {
	if h[i].priority != h[j].priority {
		return h[i].priority > h[j].priority
	}
	return h[i].seq < h[j].seq
}
func (h byPriority) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *byPriority) Push(x any) {
	if d, ok := x.(dueStep); ok {
		*h = append(*h, d)
	}
}

// Pop implements heap.Interface.
func (h *byPriority) Pop() any {
	old := *h
	d := old[len(old)-1]
	*h = old[:len(old)-1]
	return d
}
