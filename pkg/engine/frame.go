package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Sub is a workflow that can be run: the run's own, or one that a node runs. It has been checked.
type Sub struct {
	Name     string
	Workflow *workflow.Workflow
	// File tells where what stands in the workflow's file; nil where that is not known.
	File *workflow.File
	// Digest is the name of the workflow's definition.
	Digest string
	// Kinds are the node types in use, by the name the workflow gives them.
	Kinds map[string]nodetype.Type
	// Subs are the workflows that its nodes run, by the node's id; those named by a template are not among them.
	Subs map[string]*Sub
}

// frame is a workflow being executed: the run's own, or one inside a node of another frame.
type frame struct {
	*Sub
	// prefix stands before the ids of its nodes in events: empty, or such as build/.
	prefix string
	depth  int
	// ctx ends with the run, or with the time of the node that the frame is in.
	ctx    context.Context
	cancel context.CancelFunc
	plan   *plan.Plan
	inputs map[string]json.RawMessage
	// owner is the attempt that this level is the execution of; nil for the run's own.
	owner *task
	// priority is how much work stands behind the frame's owner.
	priority int
	// inherits says that what is in the checkpoint can be used: nothing that leads here has changed; adopting that it is
	// being looked through for the first time: until that is done the frame does not end.
	inherits, adopting bool

	// values is what each settled node put out, missingSecrets those of them that lack a secret.
	values         map[string]value
	missingSecrets map[string]bool
	// reused are the nodes taken from the checkpoint, settled those with a checkpoint of their own in this run.
	reused, settled map[string]bool
	order           []string
	// running are the nodes that have begun and are not settled.
	running map[string]*nodeRun
	// refreshing maps a node that runs again for its redacted outputs to the steps that wait for them, parked are the
	// nodes of those steps.
	refreshing map[string][]plan.Step
	parked     map[string]*nodeRun

	root       *fault.Fault // the first failure that no edge took
	failedNode string
}

func newFrame(s *Sub, inputs map[string]json.RawMessage) (*frame, error) {
	p, err := plan.New(s.Workflow)
	if err != nil {
		return nil, err
	}
	return &frame{
		Sub: s, plan: p, inputs: inputs, values: map[string]value{}, missingSecrets: map[string]bool{}, reused: map[string]bool{}, settled: map[string]bool{},
		running: map[string]*nodeRun{}, refreshing: map[string][]plan.Step{}, parked: map[string]*nodeRun{},
	}, nil
}

// nodeRun is a node that has begun.
type nodeRun struct {
	node  *workflow.Node
	kind  nodetype.Type
	began time.Time
	// ctx ends with the run, or when the node's time is over.
	ctx    context.Context
	cancel context.CancelFunc
	timed  bool // its time has been started
	// inherits says that what the checkpoint has of the node's items, iterations and inner nodes can be used.
	inherits bool
	// question is what a person is asked, from when it is asked, answer what was said, nil when nobody was asked; unask
	// takes the question back that a person is being asked.
	question *Question
	answer   json.RawMessage
	unask    context.CancelFunc
	// iteration is that of its loop, carry what the iteration before gave to it.
	iteration int
	carry     map[string]json.RawMessage
	// bound is the node of the current iteration, digest that of the node as a whole.
	bound  *boundNode
	digest string
	batch  *batch
	// counted says that the node is among those that were executed, holdsSlot that it takes one of the run's places as long
	// as it is active, and waitsForSlot that its items cannot go on before there is such a slot: those are held back.
	counted, holdsSlot, waitsForSlot bool
	heldBack                         []plan.Step
	// delays are the waits before attempts that were announced, by item.
	delays map[int]time.Duration
	// degradations say why what the node ends with is no full success.
	degradations []string
}

// task is one attempt at a node, or at an item of its batch.
type task struct {
	l     *frame
	a     *nodeRun
	step  plan.Step
	bound *boundNode
	began time.Time
	span  trace.Span
	// tookSlot is the frame's place among the running, given back at the end.
	tookSlot bool
	// child is the frame of a sub-workflow.
	child *frame
	// degradations say why what the attempt ends with is no full success.
	degradations []string
}

// set keeps what a node put out.
func (l *frame) set(id string, v value) {
	l.values[id] = v
	delete(l.missingSecrets, id)
	if v.redacted {
		l.missingSecrets[id] = true
	}
}

// path is what events call a node of the frame.
func (l *frame) path(id string) string { return l.prefix + id }

// halted says whether no further node of the frame may start.
func (e *execution) halted(l *frame) bool {
	return e.journalErr != nil || e.ctx.Err() != nil || e.denied != nil || l.root != nil && !e.KeepGoing
}

// span is that of the run, or of the attempt that the frame is the execution of.
func (e *execution) span(l *frame) trace.Span {
	if l.owner == nil {
		return e.Span
	}
	return l.owner.span
}

// known says whether a template may begin with a name.
func (l *frame) known(root string) bool {
	if _, ok := l.Workflow.Inputs[root]; ok {
		return true
	}
	_, ok := l.Workflow.Node(root)
	return ok
}

// binding is what the templates of a node can begin with: in an iteration of a loop also what the node put out before.
func (e *execution) binding(l *frame, a *nodeRun) *node.Binding {
	b := &node.Binding{Scope: e.scope(l), Known: l.known, Carry: a.carry, Permissive: l.Workflow.Permissive()}
	b.Locals = map[string]json.RawMessage{}
	if a.node.Loop != nil {
		b.Locals[plan.IterationName] = integer(a.iteration)
	}
	if a.answer != nil {
		b.Locals[plan.AnswerName] = a.answer
	}
	return b
}

// scope gives the values of inputs and nodes: inputs win over nodes of the same name.
func (e *execution) scope(l *frame) template.Scope {
	return func(ref template.Ref) (json.RawMessage, template.Availability) {
		if v, ok := l.inputs[ref.Root]; ok {
			return v, template.Present
		}
		v, ok := l.values[ref.Root]
		if !ok {
			return nil, template.Absent
		}
		plain, err := event.Part(v.raw, ref.Member(), e.Journal.Blob)
		if err != nil {
			e.Log.Error("a long value cannot be read", "node", l.path(ref.Root), "error", err)
			return nil, template.Absent
		}
		if v.failed {
			return plain, template.Failed
		}
		return plain, template.Present
	}
}
