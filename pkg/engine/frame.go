package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// frame is one execution of a workflow: of the run's own, or of one inside a node of another frame.
type frame struct {
	*flow.Flow
	// prefix precedes the ids of its nodes in events: empty, or such as "build/".
	prefix string
	// depth is 0 for the run's own workflow.
	depth int
	// ctx ends with the run, or with the time of the node that the frame is in. cancel releases it.
	ctx    context.Context
	cancel context.CancelFunc
	// stop ends ctx because of a failure.
	stop   context.CancelCauseFunc
	plan   *plan.Plan
	inputs map[string]json.RawMessage
	// owner is the attempt that the frame executes; nil for the run's own workflow.
	owner *task
	// runsOn is the runner of the nodes that name none, or empty for this machine.
	runsOn string
	// priority is the length of the longest chain of nodes behind the owner.
	priority int
	// recalls reports whether what earlier runs did counts here. after is the path of a node before the frame that ran anew, or "".
	recalls bool
	after   string
	// before identifies the nodes that lead to the frame, lineages those that lead to each of its nodes. Both are unknown if the frame is of a
	// node that runs alone.
	before   string
	alone    bool
	lineages map[string]string
	// entering is set while what earlier runs did is taken over. The frame does not end meanwhile.
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
	// behind has the settled nodes that did not run anew although the node of a path before them did.
	behind map[string]string
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
func newFrame(f *flow.Flow, inputs map[string]json.RawMessage) (*frame, error) {
	p, err := plan.New(f.Workflow)
	if err != nil {
		return nil, err
	}
	return &frame{
		Flow: f, plan: p, lineages: map[string]string{}, behind: map[string]string{}, inputs: inputs, values: map[string]value{}, missingSecrets: map[string]bool{}, written: map[string]json.RawMessage{}, anew: map[string]bool{}, settled: map[string]bool{},
		running: map[string]*nodeRun{}, refreshing: map[string][]plan.Step{}, parked: map[string]*nodeRun{},
	}, nil
}

// stoppable gives the frame a context that ends with another one, or with stop.
func (fr *frame) stoppable(ctx context.Context) { fr.ctx, fr.stop = context.WithCancelCause(ctx) }

// set stores the outputs of a node.
func (fr *frame) set(id string, v value) {
	fr.values[id] = v
	delete(fr.missingSecrets, id)
	if v.missingSecrets {
		fr.missingSecrets[id] = true
	}
}

// ranBefore returns the path of a node that leads to another, or to the frame, and ran anew, or "". What was only put together again, of
// parts that were kept, did not.
func (fr *frame) ranBefore(id string) string {
	for _, source := range fr.plan.Sources(id) {
		switch {
		case fr.settled[source] && fr.anew[source]:
			return fr.path(source)
		case fr.behind[source] != "":
			return fr.behind[source]
		}
	}
	return fr.after
}

// lineage identifies the nodes that lead to one by taken edges and templates, however far, and out of the nodes around. The node must be
// ready. It is "" if they are unknown.
func (fr *frame) lineage(id string) string {
	if known, ok := fr.lineages[id]; ok || fr.alone {
		return known
	}
	sources := fr.plan.Sources(id)
	slices.Sort(sources)
	parts := []json.RawMessage{json.RawMessage(fr.before)}
	for _, source := range slices.Compact(sources) {
		parts = append(parts, rawjson.Quote(source), json.RawMessage(fr.lineages[source]))
	}
	const length = 16 // hexadecimal digits
	fr.lineages[id] = strings.TrimPrefix(hashOf(parts...), hashPrefix)[:length]
	return fr.lineages[id]
}

// listsFrom returns the path of the node that gives a batch its items, or "" if that is none.
func (fr *frame) listsFrom(nr *nodeRun) string {
	if nr.node.Batch == nil {
		return ""
	}
	if expr, ok := template.Whole(gjson.ParseBytes(nr.node.Batch.Items).Str); ok {
		if ref, single := expr.Ref(); single {
			return fr.path(ref.Root)
		}
	}
	return ""
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
