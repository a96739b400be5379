package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Why a loop stopped, in its outputs.
const (
	stoppedByCondition = "condition"
	stoppedByLimit     = "max_iterations"
)

// iteration is what follows an iteration of a loop: another one that is given the values of carry, or, if stopped is not
// empty, none.
type iteration struct {
	carry   map[string]json.RawMessage
	stopped string
}

// nextIteration decides whether the loop of a node goes on, from the node's outputs.
func (b *binder) nextIteration(nr *nodeRun) (next iteration, err error) {
	loop := nr.node.Loop
	binding := b.binding(nr)
	binding.Locals = nr.bound.Locals()
	condition, path := loop.While, "loop.while"
	if loop.Until != "" {
		condition, path = loop.Until, "loop.until"
	}
	value, err := binding.Value(nr.node, path, rawjson.Quote(condition))
	if err != nil {
		return next, err
	}
	switch holds := template.Truth(value); {
	case plan.Again(loop, nr.iteration, holds):
	case plan.Again(loop, 0, holds): // it would go on without the limit
		next.stopped = stoppedByLimit
		return next, nil
	default:
		next.stopped = stoppedByCondition
		return next, nil
	}
	next.carry = map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(loop.Carry)) {
		if next.carry[name], err = binding.Value(nr.node, rawjson.JoinPath("loop.carry", name), loop.Carry[name]); err != nil {
			return next, err
		}
	}
	return next, nil
}

// advance makes the next iteration the current one.
func (nr *nodeRun) advance(next iteration) {
	nr.carry = next.carry
	nr.iteration++
}

// endLoop adds to the outputs of a loop's last iteration why it is the last.
func (s *settler) endLoop(r *result, v value, stopped string) (value, error) {
	if stopped == stoppedByLimit {
		s.warnings.add(fmt.Sprintf("node %s: its loop stopped after %d iterations, its max_iterations", r.run.path(), r.run.iteration))
	}
	whole, err := s.store.inline(v.raw)
	if err != nil {
		return v, err
	}
	v.raw = with(whole, "loop_stopped", rawjson.Quote(stopped))
	r.kept, _, err = s.store.keep(v.raw)
	return v, err
}
