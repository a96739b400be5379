package engine

import (
	"container/heap"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// drive brings a frame to its end, and all that runs inside it. reused is called, if it is not nil, once everything that is kept is taken
// over; if it fails, nothing is executed.
func (e *execution) drive(top *frame, reused func() error) {
	e.mu.Lock()
	// Everything that can be reused is, before anything is executed: if the run stopped with a part of it left for later, a
	// resume of this run would not find what the earlier run had completed.
	e.enter(top)
	tasks := e.advance()
	e.forward(top)
	if reused != nil && e.journalErr == nil {
		if err := reused(); err != nil {
			e.abort(err)
			tasks = nil
		}
	}
	e.dispatch(tasks)
	e.mu.Unlock()
	e.workers.Wait()
}

// enter queues the first steps of a frame, after reusing everything of it that the memory has.
func (e *execution) enter(fr *frame) {
	e.entered[fr.prefix] = true
	fr.entering = true
	e.enqueueReady(fr)
	fr.entering = false
}

// enqueueReady queues the steps of a frame that its plan has made ready, except those that the memory makes unnecessary.
func (e *execution) enqueueReady(fr *frame) {
	for steps := fr.plan.Ready(); len(steps) > 0 && e.journalErr == nil; steps = fr.plan.Ready() {
		for _, step := range steps {
			if !fr.recalls || !e.keepStep(fr, step) {
				e.enqueue(fr, step)
			}
		}
	}
}

// enqueue queues a step.
func (e *execution) enqueue(fr *frame, step plan.Step) {
	d := dueStep{frame: fr, step: step, priority: fr.priority + fr.plan.Rank(step.Node)}
	nr := fr.running[step.Node]
	switch {
	case nr != nil && nr.waitsForSlot && step.Item >= 0:
		if nr.heldBack = append(nr.heldBack, step); len(nr.heldBack) == 1 { // the first of them waits for the slot
			d.step = plan.Step{Node: step.Node, Do: plan.FanOut, Item: -1}
			e.queue.add(d, true)
		}
	case nr != nil && nr.delays[step.Item] > 0: // a retry, or the first step of an iteration
		e.delay(d, nr)
	default:
		e.queue.add(d, needsSlot(d))
	}
}

// needsSlot reports whether a step needs a slot of its own. An attempt at a node and a batch as a whole do. The node of a
// sub-workflow does not, for its inner nodes do.
func needsSlot(d dueStep) bool {
	if d.step.Item >= 0 || d.step.Do != plan.Attempt && d.step.Do != plan.FanOut {
		return false
	}
	n, _ := d.frame.Workflow.Node(d.step.Node)
	return d.frame.Kinds[n.Type].Name != workflow.SubType
}

// delay queues an attempt when the wait before it is over, or when its node's time is.
func (e *execution) delay(d dueStep, nr *nodeRun) {
	wait, ctx := nr.delays[d.step.Item], nr.ctx
	delete(nr.delays, d.step.Item)
	e.async(func() { e.clock.wait(ctx, wait) }, func() { e.queue.add(d, ctx.Err() == nil && needsSlot(d)) })
}

// slotFree reports whether a slot is free.
func (e *execution) slotFree() bool { return e.slots < e.Jobs }

// advance begins as many steps as possible and returns the tasks to execute.
func (e *execution) advance() []*task {
	var tasks []*task
	for {
		d, ok := e.queue.next(e.slotFree())
		switch {
		case !ok:
			return tasks
		case e.journalErr != nil:
		case e.over(d.frame):
			e.drop(d)
		default:
			if t := e.begin(d); t != nil {
				tasks = append(tasks, t)
			}
		}
	}
}

// dispatch starts a goroutine for each task.
func (e *execution) dispatch(tasks []*task) {
	for _, t := range tasks {
		e.workers.Go(func() { e.work(t) })
	}
}

// work executes a task, settles it, and continues with one of the tasks that may begin because of it.
func (e *execution) work(t *task) {
	for t != nil {
		r := e.attempts.run(t)
		e.mu.Lock()
		e.finish(r)
		next := e.advance()
		if t = nil; len(next) > 0 {
			t = next[0]
			e.dispatch(next[1:])
		}
		e.mu.Unlock()
	}
}

// async calls wait on a goroutine of its own, and after it then, under the lock.
func (e *execution) async(wait func(), then func()) {
	e.workers.Go(func() {
		wait()
		e.mu.Lock()
		then()
		tasks := e.advance()
		e.mu.Unlock()
		e.dispatch(tasks)
	})
}

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
