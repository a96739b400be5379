package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
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
	// wait is how long to wait before the next iteration.
	wait time.Duration
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
	case plan.Again(loop, nr.iteration, nr.most, holds):
	case plan.Again(loop, 0, nr.most, holds): // it would go on without the limit
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
	next.wait, err = b.iterationWait(nr, binding)
	return next, err
}

// maxIterations returns the most iterations of a node's loop. It is known before the first one.
func (b *binder) maxIterations(nr *nodeRun, binding *node.Binding) (int, error) {
	raw, err := binding.Value(nr.node, "loop.max_iterations", nr.node.Loop.MaxIterations)
	if err != nil {
		return 0, err
	}
	if fitted, ok := nodetype.Fit("int", raw); ok {
		if n, err := strconv.Atoi(string(fitted)); err == nil && n >= 1 && n <= workflow.MaxIterations {
			return n, nil
		}
	}
	return 0, loopFault("max_iterations", raw, fmt.Sprintf("a whole number from 1 to %d", workflow.MaxIterations))
}

// iterationWait returns how long to wait before the iteration that follows the current one.
func (b *binder) iterationWait(nr *nodeRun, binding *node.Binding) (time.Duration, error) {
	loop := nr.node.Loop
	if loop.Wait == nil {
		return 0, nil
	}
	values := map[string]json.RawMessage{}
	for _, f := range plan.LoopFields(loop) {
		value, err := binding.Value(nr.node, "loop."+f.Name, f.Raw)
		if err != nil {
			return 0, err
		}
		values[f.Name] = value
	}
	wait, ok := nodetype.DurationOf(values["wait"])
	if !ok {
		return 0, loopFault("wait", values["wait"], "a duration, such as 5s")
	}
	policy := &workflow.Retry{Wait: workflow.Duration(wait), MaxWait: max(workflow.DefaultMaxWait, workflow.Duration(wait))}
	if raw := values["backoff"]; raw != nil {
		if policy.Backoff = template.AsText(raw); policy.Backoff != "fixed" && policy.Backoff != "exponential" {
			return 0, loopFault("backoff", raw, "fixed or exponential")
		}
	}
	if raw := values["max_wait"]; raw != nil {
		if !nodetype.IsLimit(raw) {
			return 0, loopFault("max_wait", raw, "a duration of more than 0")
		}
		most, _ := nodetype.DurationOf(raw)
		policy.MaxWait = workflow.Duration(most)
	}
	return plan.Delay(policy, nr.iteration), nil
}

// loopFault is the fault of a field of a loop whose template has a value that the field cannot have.
func loopFault(field string, value json.RawMessage, want string) *fault.Fault {
	f := fault.New(fault.Execution, "loop.%s must be %s, got %s: %s", field, want, rawjson.Kind(value), fault.Truncate(string(rawjson.Compact(value)), 100))
	f.Path = "loop." + field
	return f.Suggest("Correct the input or the node that the value comes from")
}

// withoutStop returns the outputs of a loop's last iteration as the iteration itself had them.
func withoutStop(outputs json.RawMessage) json.RawMessage {
	if !gjson.GetBytes(outputs, "loop_stopped").Exists() {
		return outputs
	}
	out := json.RawMessage("{}")
	gjson.ParseBytes(outputs).ForEach(func(key, v gjson.Result) bool {
		if key.Str != "loop_stopped" {
			out = with(out, key.Str, json.RawMessage(v.Raw))
		}
		return true
	})
	return out
}

// advance makes the next iteration the current one.
func (nr *nodeRun) advance(next iteration) {
	nr.carry = next.carry
	nr.iteration++
	nr.question, nr.reply = nil, nil
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
