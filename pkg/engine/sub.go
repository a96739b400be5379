package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// describeSub adds the workflow that a node runs to the event of its start, unless the node's parameters contain it. Of several such events,
// the first has the definition.
func (e *execution) describeSub(nr *nodeRun, ev *event.Event) {
	sub := nr.frame.Subs[nr.id()]
	if nr.bound != nil && nr.bound.sub != nil {
		sub = nr.bound.sub
	}
	named, _ := workflow.SubOf(nr.node.Params)
	if !nr.isSub() || sub == nil || named.Inline != nil || ev.Attempt > 1 || ev.Iteration > 1 {
		return
	}
	ev.Workflow = &event.Workflow{Name: sub.Name, Digest: sub.Digest}
	if strings.Contains(named.Ref, "${") && sub.File != nil && nr.frame.File != nil { // run_started has the others
		ev.Workflow.Ref, ev.Workflow.From, ev.Workflow.Dir = sub.Name, nr.frame.File.Dir, sub.File.Dir
	}
	if sub.File == nil || e.described[sub.Digest] {
		return
	}
	definition, _, err := e.store.keep(event.Escape(sub.File.JSON()))
	if err != nil {
		return // the journal cannot be written: the event itself will fail
	}
	ev.Workflow.Definition = definition
	e.described[sub.Digest] = true
}

// openSub returns the frame of the workflow that a task's node runs, with the values of its inputs.
func (e *execution) openSub(t *task) (*frame, error) {
	nr, sub := t.run, t.bound.sub
	depth := nr.frame.depth + 1
	if depth > workflow.MaxDepth {
		return nil, fault.New(fault.Validation, "The workflow %q would run at depth %d: workflows nest at most %d deep", sub.Name, depth, workflow.MaxDepth).
			Suggest("Nest fewer workflows, or repeat one with a loop or a batch")
	}
	inputs, err := e.subInputs(sub, t.bound.Params)
	if err != nil {
		return nil, err
	}
	child, err := newFrame(sub, inputs)
	if err != nil {
		return nil, err
	}
	child.prefix, child.owner, child.depth = nr.path()+instance(t.step)+"/", t, depth
	child.runsOn = cmp.Or(sub.Workflow.RunsOn, nr.node.RunsOn, nr.frame.runsOn)
	child.priority = nr.frame.priority + nr.frame.plan.Rank(nr.id())
	child.recalls, child.after, child.before = nr.recalls && t.step.Attempt == 1, nr.after, nr.frame.lineage(nr.id())
	child.alone = nr.frame.alone
	switch {
	case !child.recalls || e.Memory == nil:
	case t.step.Item >= 0:
		_, _ = e.Memory.ExpandPart(resume.Item(nr.path(), t.step.Item))
	case nr.node.Loop != nil:
		_, _ = e.Memory.ExpandPart(resume.Iteration(nr.path(), t.step.Iteration))
	}
	ctx, cancel := t.attemptContext(e.clock)
	child.stoppable(ctx)
	child.cancel = cancel
	return child, nil
}

// subInputs returns the values of a workflow's inputs, from the parameters of the node that runs it.
func (e *execution) subInputs(sub *flow.Flow, params json.RawMessage) (map[string]json.RawMessage, error) {
	given := map[string]workflow.Given{}
	gjson.ParseBytes(workflow.SubInputs(params)).ForEach(func(name, value gjson.Result) bool {
		given[name.Str] = workflow.Given{JSON: json.RawMessage(value.Raw)}
		return true
	})
	values, err := sub.Workflow.Resolve(given, workflow.Supply{})
	if err != nil {
		f := *fault.From(err)
		f.Message = fmt.Sprintf("The workflow %q cannot run: %s", sub.Name, f.Message)
		return nil, &f
	}
	inputs := make(map[string]json.RawMessage, len(values))
	for name, v := range values {
		if in := sub.Workflow.Inputs[name]; in.Secret || redact.SecretName(name) {
			e.store.redactor.AddJSON(name, v.JSON)
		}
		inputs[name] = v.JSON
	}
	return inputs, nil
}

// instance distinguishes the executions of one sub-workflow: those of a batch's items, and of iterations after the first.
func instance(step plan.Step) string {
	switch {
	case step.Item >= 0:
		return "[" + strconv.Itoa(step.Item) + "]"
	case step.Iteration > 1:
		return "#" + strconv.Itoa(step.Iteration)
	}
	return ""
}

// subResult returns the result of a task whose frame has ended.
func (e *execution) subResult(fr *frame) *result {
	t := fr.owner
	r := &result{task: t, node: &node.Result{Action: workflow.ActionDefault}}
	switch {
	case fr.failure != nil:
		f := *fr.failure
		f.Message = fmt.Sprintf("The workflow %q failed at its node %q: %s", fr.Name, fr.failedNode, f.Message)
		for _, hint := range e.refreshHints(fr) {
			f.Suggest("%s", hint)
		}
		r.node = failure(&f)
	case e.halted(fr):
		r.node, r.stopped = failure(fault.New(fault.Execution, "The run was stopped")), true
	default:
		outputs, err := e.values.outputs(fr)
		if err != nil {
			r.node, r.refused = failure(err), true
			break
		}
		r.node.Outputs = workflow.SubOutputs(t.bound.Params, outputs)
		r.kept, r.redacted, r.err = e.store.keep(r.node.Outputs)
		r.missingSecrets = len(fr.missingSecrets) > 0 && missesSecret(r.kept)
		r.redacted = r.redacted || r.missingSecrets
	}
	return r
}
