package engine

import (
	"sync"

	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// scheduler decides when a step begins: it queues the steps that the plans have made ready, counts the slots in use, and
// runs attempts on goroutines.
//
// Its lock protects the whole state of a run: every frame, every plan, and every part of the engine except attempts and
// store. Only the nodes' own work happens without it. The goroutine whose node has ended settles that node under the lock
// and runs the next one itself, so that no other goroutine has to be woken between two short nodes.
type scheduler struct {
	mu      sync.Mutex
	workers sync.WaitGroup

	queue queue
	// jobs is how many slots there are, slots how many are in use. A node that is being tried uses one.
	jobs, slots int
	rec         *recorder
	stop        *stopState
	clock       *clock

	// begin begins a step under the lock. It returns the task to execute without the lock, if there is one. drop gives up a
	// step that comes too late because the run is over.
	begin func(dueStep) *task
	drop  func(dueStep)
	// execute executes a task without the lock; finish settles its result under the lock.
	execute func(*task) *result
	finish  func(*result)
	// reuse reports whether a step needs not be queued because the checkpoint has what it leads to.
	reuse func(*frame, plan.Step) bool
	// entered is called with each frame that begins. carry records what the checkpoint has of frames that have not begun.
	entered, carry func(*frame)
}

// run brings a frame to its end, and all that runs inside it. reused is called, if it is not nil, once everything that the
// checkpoint has is reused; if it fails, nothing is executed.
func (s *scheduler) run(top *frame, reused func() error) {
	s.mu.Lock()
	// Everything that can be reused is, before anything is executed: if the run stopped with a part of it left for later, a
	// resume of this run would not find what the earlier run had completed.
	s.enter(top)
	tasks := s.advance()
	s.carry(top)
	if reused != nil && s.rec.journalErr == nil {
		if err := reused(); err != nil {
			s.rec.abort(err)
			tasks = nil
		}
	}
	s.dispatch(tasks)
	s.mu.Unlock()
	s.workers.Wait()
}

// enter queues the first steps of a frame, after reusing everything of it that the checkpoint has.
func (s *scheduler) enter(fr *frame) {
	s.entered(fr)
	fr.entering = true
	s.enqueueReady(fr)
	fr.entering = false
}

// enqueueReady queues the steps of a frame that its plan has made ready, except those that the checkpoint makes unnecessary.
func (s *scheduler) enqueueReady(fr *frame) {
	for steps := fr.plan.Ready(); len(steps) > 0 && s.rec.journalErr == nil; steps = fr.plan.Ready() {
		for _, step := range steps {
			if !fr.recalls || !s.reuse(fr, step) {
				s.enqueue(fr, step)
			}
		}
	}
}

// enqueue queues a step.
func (s *scheduler) enqueue(fr *frame, step plan.Step) {
	d := dueStep{frame: fr, step: step, priority: fr.priority + fr.plan.Rank(step.Node)}
	nr := fr.running[step.Node]
	switch {
	case nr != nil && nr.waitsForSlot && step.Item >= 0:
		if nr.heldBack = append(nr.heldBack, step); len(nr.heldBack) == 1 { // the first of them waits for the slot
			d.step = plan.Step{Node: step.Node, Do: plan.FanOut, Item: -1}
			s.queue.add(d, true)
		}
	case nr != nil && nr.delays[step.Item] > 0: // a retry, or the first step of an iteration
		s.delay(d, nr)
	default:
		s.queue.add(d, needsSlot(d))
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
func (s *scheduler) delay(d dueStep, nr *nodeRun) {
	wait, ctx := nr.delays[d.step.Item], nr.ctx
	delete(nr.delays, d.step.Item)
	s.async(func() { s.clock.wait(ctx, wait) }, func() { s.queue.add(d, ctx.Err() == nil && needsSlot(d)) })
}

// slotFree reports whether a slot is free.
func (s *scheduler) slotFree() bool { return s.slots < s.jobs }

// advance begins as many steps as possible and returns the tasks to execute.
func (s *scheduler) advance() []*task {
	var tasks []*task
	for {
		d, ok := s.queue.next(s.slotFree())
		switch {
		case !ok:
			return tasks
		case s.rec.journalErr != nil:
		case s.stop.over(d.frame):
			s.drop(d)
		default:
			if t := s.begin(d); t != nil {
				tasks = append(tasks, t)
			}
		}
	}
}

// dispatch starts a goroutine for each task.
func (s *scheduler) dispatch(tasks []*task) {
	for _, t := range tasks {
		s.workers.Go(func() { s.work(t) })
	}
}

// work executes a task, settles it, and continues with one of the tasks that may begin because of it.
func (s *scheduler) work(t *task) {
	for t != nil {
		r := s.execute(t)
		s.mu.Lock()
		s.finish(r)
		next := s.advance()
		if t = nil; len(next) > 0 {
			t = next[0]
			s.dispatch(next[1:])
		}
		s.mu.Unlock()
	}
}

// async calls wait on a goroutine of its own, and after it then, under the lock.
func (s *scheduler) async(wait func(), then func()) {
	s.workers.Go(func() {
		wait()
		s.mu.Lock()
		then()
		tasks := s.advance()
		s.mu.Unlock()
		s.dispatch(tasks)
	})
}
