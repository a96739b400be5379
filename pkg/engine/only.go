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

// only makes a run that executes a single node, on what the checkpoint has. The run's frame is then the one that the node is in.
// The frames around it are not executed: they only resolve what the frame is given.
type only struct {
	path string
	from *resume.Memory

	starter   *starter
	adopter   *adopter
	binder    *binder
	batches   *batches
	children  *children
	refresher *refresher
	warnings  *warnings
}

// enter returns the frame of the node. The error says why the node cannot run.
func (o *only) enter(top *frame) (*frame, error) {
	segments, err := top.Follow(o.path)
	if err != nil {
		return nil, err
	}
	fr := top
	for _, seg := range segments[:len(segments)-1] {
		if err := o.load(fr, seg.ID); err != nil {
			return nil, err
		}
		if fr, err = o.inside(fr, seg); err != nil {
			return nil, err
		}
	}
	last := segments[len(segments)-1].ID
	if _, ok := fr.Workflow.Node(last); !ok {
		return nil, fr.Unknown(strings.TrimSuffix(fr.prefix, "/"), last)
	}
	if err := o.load(fr, last); err != nil {
		return nil, err
	}
	fr.plan, fr.recalls, fr.alone = plan.Only(fr.Workflow, last), true, true
	return fr, nil
}

// load gives a frame the outputs that the checkpoint has. A node that cannot run without those of another is a fault.
func (o *only) load(fr *frame, id string) error {
	for _, other := range fr.Workflow.NodeIDs() {
		r, ok := o.from.Row(fr.path(other))
		if !ok || other == id {
			continue
		}
		if old := o.adopter.event(fr.path(other), r); old != nil {
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
			f := fault.New(fault.Template, "Template %s not resolved: run %s has no outputs of node %s", u.Ref, o.from.Run, fr.path(root))
			f.Node, f.Missing = fr.path(id), []string{u.Ref.Expression()}
			return f.Suggest("Run node %s first: --only %s, or --from %s", fr.path(root), fr.path(root), fr.path(root))
		}
		if o.from.Outdated(fr.path(root)) != "" {
			o.warnings.add(fmt.Sprintf("node %s reads the outputs of node %s, which are older than those of a node before it", fr.path(id), fr.path(root)))
		}
	}
	return nil
}

// inside returns the frame of the workflow that a node runs, in the item or iteration that a segment names.
func (o *only) inside(fr *frame, seg event.Segment) (*frame, error) {
	nr := o.starter.newNodeRun(fr, seg.ID)
	step := plan.Step{Node: seg.ID, Do: plan.Attempt, Item: seg.Item, Iteration: nr.iteration, Attempt: 1}
	bound, err := o.bind(nr, seg)
	if err == nil && len(o.refresher.stale(nr)) > 0 {
		err = fault.New(fault.Usage, "Node %s reads a secret, which run %s has not stored", nr.path(), o.from.Run).
			Suggest("Run the node and all nodes that it leads to: --from %s", o.path)
	}
	if err != nil {
		f := *fault.From(err)
		f.Node = cmp.Or(f.Node, nr.path())
		return nil, &f
	}
	step.Iteration = nr.iteration
	child, err := o.children.open(&task{run: nr, step: step, bound: bound})
	if err != nil {
		return nil, err
	}
	child.owner = nil // it ends with the run
	return child, nil
}

// bind resolves the templates of a node for an item or an iteration.
func (o *only) bind(nr *nodeRun, seg event.Segment) (*boundNode, error) {
	if seg.Item >= 0 || nr.node.Batch != nil {
		if err := o.batches.readItems(nr); err != nil {
			return nil, err
		}
		if seg.Item < 0 || seg.Item >= len(nr.batch.items) {
			return nil, fault.New(fault.Usage, "Node %s has %d items, so it has no item %d", nr.path(), len(nr.batch.items), seg.Item)
		}
		return o.batches.bindItem(nr, seg.Item)
	}
	for {
		bound, err := o.binder.bind(nr, o.binder.binding(nr))
		if err != nil || nr.node.Loop == nil || nr.iteration >= seg.Iteration {
			return bound, err
		}
		old := (*event.Event)(nil)
		if r, ok := o.from.Row(resume.Iteration(nr.path(), nr.iteration)); ok {
			old = o.adopter.event(nr.path(), r)
		}
		if old == nil {
			return nil, fault.New(fault.Usage, "Run %s has no iteration %d of node %s", o.from.Run, nr.iteration, nr.path())
		}
		nr.bound = bound
		nr.frame.set(nr.id(), value{raw: orEmpty(old.Outputs), missingSecrets: old.Redacted})
		next, err := o.binder.nextIteration(nr)
		if err != nil {
			return nil, err
		}
		nr.advance(next)
	}
}

// carry records everything that the checkpoint has, so that the next run finds it in this one. It returns how many of the workflow's
// own nodes are among that, except the node itself.
func (o *only) carry(rec *recorder) (nodes int) {
	for _, r := range o.from.Rows(nil) {
		if o.adopter.carryOver(r, rec); r.Settles() && r.Node != o.path && !strings.Contains(r.Node, "/") {
			nodes++
		}
	}
	for _, path := range o.from.Questions() {
		if path == o.path {
			continue
		}
		if asked, answer := o.from.Own(path); asked != nil {
			state, err := event.Plain(asked.State, o.from.Blob)
			if err != nil {
				continue
			}
			ev := *asked
			if ev.State, _, err = o.binder.store.keep(event.Escape(state)); err != nil {
				rec.abort(err)
				break
			}
			if rec.append(&ev); answer != nil {
				rec.append(inherited(answer, path))
			}
		}
		if old := o.from.Answer(path); old != nil {
			rec.append(inherited(old, path))
		}
	}
	return nodes
}

// outputs returns the outputs of the node by its path, as a value of the stream.
func (o *only) outputs(fr *frame) []byte {
	segments, _ := event.Segments(o.path)
	out := append([]byte{'{'}, rawjson.Quote(o.path)...)
	return append(append(append(out, ':'), orEmpty(fr.values[segments[len(segments)-1].ID].raw)...), '}')
}
