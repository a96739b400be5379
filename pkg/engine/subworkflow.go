package engine

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// openFrame makes a frame of the workflow that a task's node runs. The task ends when the frame does.
func (e *execution) openFrame(t *task) {
	child, err := e.newChild(t)
	if err != nil {
		e.finish(&result{task: t, node: failure(err), refused: true})
		return
	}
	t.child = child
	e.adopt(child)
	e.closeFrame(child)
}

// newChild prepares the frame of a sub-workflow: the values of its inputs above all.
func (e *execution) newChild(t *task) (*frame, error) {
	sub, params := t.bound.sub, t.bound.Params
	if t.l.depth+1 > workflow.MaxDepth {
		return nil, fault.New(fault.Validation, "The workflow %q would run at depth %d: workflows run in one another at most %d deep", sub.Name, t.l.depth+1, workflow.MaxDepth).
			Suggest("Call fewer workflows from within one another, or repeat with a loop or a batch")
	}
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
			e.Redactor.AddJSON(name, v.JSON)
		}
		inputs[name] = v.JSON
	}
	child, err := newFrame(sub, inputs)
	if err != nil {
		return nil, err
	}
	child.prefix, child.owner, child.depth = t.l.path(t.a.node.ID)+instance(t.step)+"/", t, t.l.depth+1
	child.priority = t.l.priority + t.l.plan.Rank(t.a.node.ID)
	child.inherits = t.l.inherits && t.a.inherits && t.step.Attempt == 1
	child.ctx, child.cancel = e.attemptContext(t)
	return child, nil
}

// instance tells the runs of one sub-workflow apart: items of a batch, and iterations after the first.
func instance(s plan.Step) string {
	switch {
	case s.Item >= 0:
		return "[" + strconv.Itoa(s.Item) + "]"
	case s.Iteration > 1:
		return "#" + strconv.Itoa(s.Iteration)
	}
	return ""
}

// closeFrame ends a frame of a sub-workflow when nothing of it runs and nothing may start any more.
func (e *execution) closeFrame(l *frame) {
	if l.owner == nil || l.owner.child != l || l.adopting || !l.plan.Done() && !e.halted(l) {
		return
	}
	for _, a := range l.running {
		if _, asks := e.questions[a]; !asks {
			return
		}
	}
	e.withdraw(l)
	t := l.owner
	t.child = nil
	l.cancel()
	cause := l.failedNode
	if cause == "" {
		cause = e.stopCause()
	}
	for _, d := range l.plan.Halt(cause) {
		e.write(l, d)
	}
	r := &result{task: t, node: &node.Result{Action: workflow.ActionDefault}}
	switch {
	case l.root != nil:
		f := *l.root
		f.Message = fmt.Sprintf("The workflow %q failed at its node %q: %s", l.Name, l.failedNode, f.Message)
		r.node = failure(&f)
	case e.halted(l):
		r.node, r.stopped = failure(fault.New(fault.Execution, "The run was stopped")), true
	default:
		outputs, err := e.outputs(l)
		if err != nil {
			r.node, r.refused = failure(err), true
			break
		}
		r.node.Outputs = workflow.SubOutputs(t.bound.Params, outputs)
		r.kept, r.redacted, r.err = e.keep(r.node.Outputs)
		r.missingSecrets = len(l.missingSecrets) > 0 && missesSecret(r.kept)
		r.redacted = r.redacted || r.missingSecrets
	}
	e.finish(r)
}
