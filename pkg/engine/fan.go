package engine

import (
	"context"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// fanOut reads the items of a batch and records how many there are. It takes those over that the checkpoint has.
func (s *starter) fanOut(nr *nodeRun, step plan.Step) {
	if nr.waitsForSlot { // its items are known, and now there is a slot
		nr.waitsForSlot, nr.holdsSlot = false, true
		s.sched.slots++
		for _, held := range nr.heldBack {
			s.sched.enqueue(nr.frame, held)
		}
		nr.heldBack = nil
		return
	}
	if nr.ctx.Err() != nil {
		s.refuse(nr, step, timeoutFault(nr.ctx))
		return
	}
	if stale := s.refresher.stale(nr); len(stale) > 0 {
		s.refresher.refresh(nr, step, stale)
		return
	}
	if err := s.batches.readItems(nr); err != nil {
		s.refuse(nr, step, err)
		return
	}
	fr := nr.frame
	release := nr.cancel
	nr.ctx, nr.batch.stop = context.WithCancelCause(nr.ctx)
	nr.cancel = func() {
		nr.batch.stop(nil)
		release()
	}
	nr.batch.span = fr.spanIn(s.span).Child(s.random)
	ev, n := nr.startedEvent(step), len(nr.batch.items)
	ev.Items, ev.SpanID = &n, nr.batch.span.ID
	s.children.describe(nr, ev)
	if fr.owner != nil {
		ev.ParentSpanID = nr.batch.span.Parent
	}
	s.rec.record(fr, ev)
	if nr.recalls {
		s.adopter.items(nr)
	}
	s.itemsFromCache(nr)
	if nr.batch.fromCache() {
		s.counts.reused++
	} else {
		s.count(nr)
	}
	switch {
	case nr.isSub():
	case s.sched.slotFree():
		nr.holdsSlot = true
		s.sched.slots++
	default: // it began early for what the checkpoint has, and goes on in its turn
		nr.waitsForSlot = true
	}
	s.sched.enqueueReady(fr)
}

// itemsFromCache ends the items of a batch whose outputs are in the cache.
func (s *starter) itemsFromCache(nr *nodeRun) {
	if !s.cache.wanted(nr) {
		return
	}
	for i := range nr.batch.items {
		it := &nr.batch.states[i]
		if it.ended {
			continue
		}
		digest, err := s.batches.itemDigest(nr, i)
		if err != nil { // the item fails in its turn
			continue
		}
		kept, run, ok := s.cache.get(nr, digest)
		if !ok {
			continue
		}
		nr.ranAnew()
		nr.batch.cached++
		nr.batch.cachedFrom = max(nr.batch.cachedFrom, run)
		it.ended, it.at = true, s.rec.record(nr.frame, &event.Event{
			Event: event.ItemCompleted, Node: nr.id(), Item: &i, Outputs: kept, InputDigest: digest, FromRun: run, Cached: true,
		})
	}
}

// fanIn puts the results of a batch's items together, and ends the node.
func (s *starter) fanIn(nr *nodeRun, step plan.Step) {
	if nr.digest == "" {
		if digest, err := s.batches.digest(nr); err == nil { // else an item could not be bound, and a later run tries that again
			nr.digest = digest
		}
	}
	r := s.batches.result(&task{run: nr, step: step, began: nr.began})
	if s.rec.journalErr == nil {
		r.err = s.batches.outputs(r)
	}
	s.settler.finish(r)
}
