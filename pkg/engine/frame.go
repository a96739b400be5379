package engine

import (
	"context"
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// Sub is a workflow that can run: the run's own, or one that a node runs. It has been checked.
type Sub struct {
	Name     string
	Workflow *workflow.Workflow
	// File locates values in the workflow's file; nil if the places are unknown.
	File *workflow.File
	// Digest is the hash of the workflow's definition.
	Digest string
	// Kinds are the node types in use, by the names the workflow has for them.
	Kinds map[string]nodetype.Type
	// Subs are the workflows that its nodes run, by the node's id, except those named by a template.
	Subs map[string]*Sub
}

// frame is one execution of a workflow: of the run's own, or of one inside a node of another frame.
type frame struct {
	*Sub
	// prefix precedes the ids of its nodes in events: empty, or such as "build/".
	prefix string
	// depth is 0 for the run's own workflow.
	depth int
	// ctx ends with the run, or with the time of the node that the frame is in. cancel releases it.
	ctx    context.Context
	cancel context.CancelFunc
	plan   *plan.Plan
	inputs map[string]json.RawMessage
	// owner is the attempt that the frame executes; nil for the run's own workflow.
	owner *task
	// runsOn is the runner of the nodes that name none, or empty for this machine.
	runsOn string
	// priority is the length of the longest chain of nodes behind the owner.
	priority int
	// inherits reports whether the checkpoint may be used: nothing that leads to this frame has changed.
	inherits bool
	// entering is set while the checkpoint is searched for the first time. The frame does not end meanwhile.
	entering bool

	// values are the outputs of the settled nodes.
	values map[string]value
	// missingSecrets are the nodes whose value misses a secret.
	missingSecrets map[string]bool
	// written are the outputs as they are written of the settled nodes whose outputs had a secret.
	written map[string]json.RawMessage
	// anew are the nodes in which something was executed or taken from the cache, settled the nodes that a later run can resume
	// from, and order the latter in the order of their settling.
	anew, settled map[string]bool
	order         []string
	// running are the nodes that have begun and are not settled.
	running map[string]*nodeRun
	// refreshing maps each node that runs again for the secrets in its outputs to the steps that wait for it. parked are
	// the nodes of those steps.
	refreshing map[string][]plan.Step
	parked     map[string]*nodeRun

	// failure is the first failure that no edge handles, failedNode its node.
	failure    *fault.Fault
	failedNode string
}

// newFrame returns a frame that has not begun.
func newFrame(s *Sub, inputs map[string]json.RawMessage) (*frame, error) {
	p, err := plan.New(s.Workflow)
	if err != nil {
		return nil, err
	}
	return &frame{
		Sub: s, plan: p, inputs: inputs, values: map[string]value{}, missingSecrets: map[string]bool{}, written: map[string]json.RawMessage{}, anew: map[string]bool{}, settled: map[string]bool{},
		running: map[string]*nodeRun{}, refreshing: map[string][]plan.Step{}, parked: map[string]*nodeRun{},
	}, nil
}

// set stores the outputs of a node.
func (fr *frame) set(id string, v value) {
	fr.values[id] = v
	delete(fr.missingSecrets, id)
	if v.missingSecrets {
		fr.missingSecrets[id] = true
	}
}

// ranBefore returns the first node that leads to another, has ended, and ran anew. What was only put together again, of parts that the
// checkpoint has, did not.
func (fr *frame) ranBefore(id string) (source string, ok bool) {
	for _, source := range fr.plan.Sources(id) {
		if fr.settled[source] && fr.anew[source] {
			return source, true
		}
	}
	return "", false
}

// path returns a node's path, by which events name it.
func (fr *frame) path(id string) string { return fr.prefix + id }

// spanIn returns the span that the frame's nodes are children of: the run's, or that of the attempt which the frame executes.
func (fr *frame) spanIn(run trace.Span) trace.Span {
	if fr.owner == nil {
		return run
	}
	return fr.owner.span
}

// known reports whether a template may begin with a name.
func (fr *frame) known(root string) bool {
	if _, ok := fr.Workflow.Inputs[root]; ok {
		return true
	}
	_, ok := fr.Workflow.Node(root)
	return ok
}
