// Package flow holds a checked workflow together with the workflows that its nodes run, and finds nodes in it by their paths.
package flow

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Flow is a workflow that can run: a run's own, or one that a node runs. It has been checked.
type Flow struct {
	Name     string
	Workflow *workflow.Workflow
	// File locates values in the workflow's file; nil if the places are unknown.
	File *workflow.File
	// Digest is the hash of the workflow's definition.
	Digest string
	// Kinds are the node types in use, by the names the workflow has for them.
	Kinds map[string]nodetype.Type
	// Subs are the workflows that its nodes run, by the node's id, except those named by a template.
	Subs map[string]*Flow
}

// Follow returns the segments of the path of a node, as far as the workflow is known, or a fault if it has no such node.
func (f *Flow) Follow(path string) ([]event.Segment, error) {
	segments, ok := event.Segments(path)
	if !ok {
		return nil, fault.New(fault.Usage, "%q is not the path of a node", path).Suggest("Write a node's id, or outer/inner for a node inside the node outer")
	}
	if last := segments[len(segments)-1]; last.Item >= 0 || last.Iteration > 0 {
		return nil, fault.New(fault.Usage, "%q is a part of a node, and only a node as a whole can be run again", path).
			Suggest("Name the node: %s", path[:len(path)-len(strings.TrimPrefix(last.String(), last.ID))])
	}
	around := ""
	for i, seg := range segments {
		if f == nil {
			break // a template names this workflow: its nodes are known when it runs
		}
		n, ok := f.Workflow.Node(seg.ID)
		if !ok {
			return nil, f.Unknown(around, seg.ID)
		}
		if i == len(segments)-1 {
			break
		}
		around = strings.TrimPrefix(around+"/"+seg.ID, "/")
		switch {
		case f.Kinds[n.Type].Name != workflow.SubType:
			return nil, fault.New(fault.Usage, "Node %s runs no workflow, so there is no node %s", around, path).Suggest("Name the node itself: %s", around)
		case seg.Item >= 0 && n.Batch == nil:
			return nil, fault.New(fault.Usage, "Node %s has no batch, so it has no item %d", around, seg.Item)
		case seg.Iteration > 1 && n.Loop == nil:
			return nil, fault.New(fault.Usage, "Node %s has no loop, so it has no iteration %d", around, seg.Iteration)
		}
		f = f.Subs[seg.ID]
	}
	return segments, nil
}

// Unknown returns the fault of a node that the workflow does not have. around is the path of the node that runs the workflow, or empty.
func (f *Flow) Unknown(around, id string) *fault.Fault {
	missing := fault.New(fault.NotFound, "The workflow has no node %q", id)
	if around != "" {
		missing = fault.New(fault.NotFound, "The workflow of node %s has no node %q", around, id)
	}
	ids := f.Workflow.NodeIDs()
	if near, ok := fault.Nearest(id, ids); ok {
		missing.Suggest("Did you mean %q?", near)
	}
	return missing.Offer(id, ids)
}
