package engine

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// alone reports whether the run executes a single node, on what the memory has. Its top frame is then the one that the node is in. The
// frames around it are not executed: they only resolve what the frame is given.
func (e *execution) alone() bool { return e.Only != "" && e.Memory != nil }

// enterAlone returns the frame of the node. The error says why the node cannot run.
func (e *execution) enterAlone(top *frame) (*frame, error) {
	segments, err := top.Follow(e.Only)
	if err != nil {
		return nil, err
	}
	fr := top
	for _, seg := range segments[:len(segments)-1] {
		if err := e.loadOutputs(fr, seg.ID); err != nil {
			return nil, err
		}
		if fr, err = e.insideAlone(fr, seg); err != nil {
			return nil, err
		}
	}
	last := segments[len(segments)-1].ID
	if _, ok := fr.Workflow.Node(last); !ok {
		return nil, fr.Unknown(strings.TrimSuffix(fr.prefix, "/"), last)
	}
	if err := e.loadOutputs(fr, last); err != nil {
		return nil, err
	}
	fr.plan, fr.recalls, fr.alone = plan.Only(fr.Workflow, last), true, true
	return fr, nil
}

// loadOutputs gives a frame the outputs that the memory has. A node that cannot run without those of another is a fault.
func (e *execution) loadOutputs(fr *frame, id string) error {
	for _, other := range fr.Workflow.NodeIDs() {
		r, ok := e.Memory.Row(fr.path(other))
		if !ok || other == id {
			continue
		}
		if old := e.takeOver(fr.path(other), r); old != nil {
			fr.set(other, value{raw: orEmpty(old.Outputs), missingSecrets: old.Redacted, failed: resume.FailedAndHandled(old)})
		}
	}
	n, _ := fr.Workflow.Node(id)
	uses, _ := plan.Uses(n)
	for _, u := range uses {
		root := u.Ref.Root
		if _, isInput := fr.inputs[root]; isInput || root == id {
			continue
		}
		if _, isNode := fr.Workflow.Node(root); !isNode {
			continue
		}
		if _, ok := fr.values[root]; !ok && !u.Optional {
			f := fault.New(fault.Template, "Template %s not resolved: run %s has no outputs of node %s", u.Ref, e.Memory.Run, fr.path(root))
			f.Node, f.Missing = fr.path(id), []string{u.Ref.Expression()}
			return f.Suggest("Run node %s first: --only %s, or --from %s", fr.path(root), fr.path(root), fr.path(root))
		}
		if e.Memory.Outdated(fr.path(root)) != "" {
			e.warnings.add(fmt.Sprintf("node %s reads the outputs of node %s, which are older than those of a node before it", fr.path(id), fr.path(root)))
		}
	}
	return nil
}

// insideAlone returns the frame of the workflow that a node runs, in the item or iteration that a segment names.
func (e *execution) insideAlone(fr *frame, seg event.Segment) (*frame, error) {
	nr := e.newNodeRun(fr, seg.ID)
	step := plan.Step{Node: seg.ID, Do: plan.Attempt, Item: seg.Item, Iteration: nr.iteration, Attempt: 1}
	bound, err := e.bindAlone(nr, seg)
	if err == nil && len(e.stale(nr)) > 0 {
		err = fault.New(fault.Usage, "Node %s reads a secret, which run %s has not stored", nr.path(), e.Memory.Run).
			Suggest("Run the node and all nodes that it leads to: --from %s", e.Only)
	}
	if err != nil {
		f := *fault.From(err)
		f.Node = cmp.Or(f.Node, nr.path())
		return nil, &f
	}
	step.Iteration = nr.iteration
	child, err := e.openSub(&task{run: nr, step: step, bound: bound})
	if err != nil {
		return nil, err
	}
	child.owner = nil // it ends with the run, and no limit of the node around it counts
	child.cancel()
	child.stoppable(e.ctx)
	return child, nil
}

// bindAlone resolves the templates of a node for an item or an iteration.
func (e *execution) bindAlone(nr *nodeRun, seg event.Segment) (*boundNode, error) {
	if seg.Item >= 0 || nr.node.Batch != nil {
		if err := e.fan.readItems(nr); err != nil {
			return nil, err
		}
		if seg.Item < 0 || seg.Item >= len(nr.batch.items) {
			return nil, fault.New(fault.Usage, "Node %s has %d items, so it has no item %d", nr.path(), len(nr.batch.items), seg.Item)
		}
		return e.fan.bindItem(nr, seg.Item)
	}
	for {
		bound, err := e.values.bind(nr, e.values.binding(nr))
		if err != nil || nr.node.Loop == nil || nr.iteration >= seg.Iteration {
			return bound, err
		}
		old := (*event.Event)(nil)
		if r, ok := e.Memory.Row(resume.Iteration(nr.path(), nr.iteration)); ok {
			old = e.takeOver(nr.path(), r)
		}
		if old == nil {
			return nil, fault.New(fault.Usage, "Run %s has no iteration %d of node %s", e.Memory.Run, nr.iteration, nr.path())
		}
		nr.bound = bound
		nr.frame.set(nr.id(), value{raw: orEmpty(old.Outputs), missingSecrets: old.Redacted})
		next, err := e.fan.nextIteration(nr)
		if err != nil {
			return nil, err
		}
		nr.advance(next)
	}
}

// forwardAll records everything that the memory has, so that the next run finds it in this one. It returns how many of the workflow's
// own nodes are among that, except the node itself.
func (e *execution) forwardAll() (nodes int) {
	for _, r := range e.Memory.Rows(nil) {
		if e.forwardRow(r); r.Settles() && r.Node != e.Only && !strings.Contains(r.Node, "/") {
			nodes++
		}
	}
	for _, path := range e.Memory.Questions() {
		if path == e.Only {
			continue
		}
		if asked, answer := e.Memory.Own(path); asked != nil {
			state, err := event.Plain(asked.State, e.Memory.Blob)
			if err != nil {
				continue
			}
			ev := *asked
			if ev.State, _, err = e.values.store.keep(event.Escape(state)); err != nil {
				e.abort(err)
				break
			}
			if e.append(&ev); answer != nil {
				e.append(inherited(answer, path))
			}
		}
		if old := e.Memory.Answer(path); old != nil {
			e.append(inherited(old, path))
		}
	}
	return nodes
}

// outputsAlone returns the outputs of the node by its path, as a value of the stream.
func (e *execution) outputsAlone(fr *frame) []byte {
	segments, _ := event.Segments(e.Only)
	out := append([]byte{'{'}, rawjson.Quote(e.Only)...)
	return append(append(append(out, ':'), orEmpty(fr.values[segments[len(segments)-1].ID].raw)...), '}')
}
