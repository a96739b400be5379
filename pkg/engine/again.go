package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// RunAgain takes out of the checkpoint what somebody asks to run again: then the run resumes as if it had not ended. It returns
// how many nodes were asked for. A node that is not in the workflow is a fault. With Only and RetryFailed it is what has failed in
// that node.
func (c *Checkpoint) RunAgain(top *Sub, a event.Again) (asked int, err error) {
	s := &selection{c: c, top: top, inside: map[string]bool{}, frames: map[string]*frameSelection{}}
	for _, paths := range []map[string]record{c.settled, c.parts} {
		for path := range paths {
			s.noteInside(path)
		}
	}
	for _, path := range []string{a.Only, a.From} {
		if path == "" || path == a.Only && a.RetryFailed {
			continue
		}
		if err := s.name(path, a.Only != ""); err != nil {
			return 0, err
		}
		asked++
	}
	if a.RetryFailed {
		asked += s.failures(a.Only)
	}
	if s.lost != nil {
		return 0, s.lost
	}
	s.close()
	s.apply(a.Only)
	return asked, nil
}

// selection is what somebody asks to run again of a checkpoint.
type selection struct {
	c   *Checkpoint
	top *Sub
	// inside has the prefixes of the frames of which the checkpoint has a part, such as "build[3]/".
	inside map[string]bool
	// frames has what is selected in each frame, by its prefix.
	frames map[string]*frameSelection
	// lost is the fault of a node whose inside is needed and gone, or nil.
	lost *fault.Fault
}

// frameSelection is what is selected in a frame, by the ids of its nodes.
type frameSelection struct {
	// sub is the frame's workflow, or nil if a template names it.
	sub *Sub
	// whole has the nodes that run again, items those of whose batch the failed items do.
	whole, items map[string]bool
	// entered has the nodes inside which something runs again, by the first iteration of that.
	entered map[string]int
	// behind has the nodes that a node of those above leads to.
	behind map[string]bool
}

func (s *selection) frame(prefix string, sub *Sub) *frameSelection {
	f := s.frames[prefix]
	if f == nil {
		f = &frameSelection{sub: sub, whole: map[string]bool{}, items: map[string]bool{}, entered: map[string]int{}}
		s.frames[prefix] = f
	}
	return f
}

// noteInside notes the frames that the node of a path is in.
func (s *selection) noteInside(path string) {
	for i := strings.LastIndexByte(path, '/'); i >= 0 && !s.inside[path[:i+1]]; i = strings.LastIndexByte(path[:i], '/') {
		s.inside[path[:i+1]] = true
	}
}

// name selects the node of a path that somebody has written. Without an item it is the node in each item of a batch. alone
// reports whether it must be a single node.
func (s *selection) name(path string, alone bool) error {
	segments, err := s.top.follow(path)
	if err != nil {
		return err
	}
	type place struct {
		prefix string
		sub    *Sub
	}
	places := []place{{"", s.top}}
	for i, seg := range segments[:len(segments)-1] {
		var inner []place
		for _, p := range places {
			n, known := s.node(p.sub, seg.ID)
			outer := p.prefix + seg.ID
			s.expand(outer)
			s.frame(p.prefix, p.sub).enter(seg.ID, max(seg.Iteration, 1))
			var sub *Sub
			if p.sub != nil {
				sub = p.sub.Subs[seg.ID]
			}
			switch {
			case seg.Item < 0 && known && n.Batch != nil && alone:
				f := fault.New(fault.Usage, "Node %s has a batch, so %s is a node in each item", outer, path)
				rest := strings.Join(strings.Split(path, "/")[i+1:], "/")
				return f.Suggest("Name one item, such as %s[0]/%s", outer, rest)
			case seg.Item < 0 && known && n.Batch != nil:
				for _, prefix := range slices.Sorted(maps.Keys(s.inside)) {
					if item, ok := strings.CutPrefix(prefix, outer+"["); ok && strings.Count(item, "/") == 1 {
						inner = append(inner, place{prefix, sub})
					}
				}
			default:
				prefix := p.prefix + seg.String() + "/"
				if !alone && !s.inside[prefix] && (seg.Item >= 0 || seg.Iteration > 1) && s.lost == nil {
					return fault.New(fault.NotFound, "Run %s has nothing of %s", s.c.Run, strings.TrimSuffix(prefix, "/"))
				}
				inner = append(inner, place{prefix, sub})
			}
		}
		places = inner
	}
	last := segments[len(segments)-1].ID
	for _, p := range places {
		if p.sub == nil && !s.c.begun[p.prefix+last] && s.c.settled[p.prefix+last].of == nil {
			return fault.New(fault.NotFound, "Run %s has no node %s", s.c.Run, p.prefix+last)
		}
		s.frame(p.prefix, p.sub).whole[last] = true
	}
	return nil
}

// node returns a node of a workflow that may be unknown.
func (s *selection) node(sub *Sub, id string) (*workflow.Node, bool) {
	if sub == nil {
		return nil, false
	}
	return sub.Workflow.Node(id)
}

// follow returns the segments of the path of a node, as far as the workflow is known, or a fault if it has no such node.
func (s *Sub) follow(path string) ([]event.Segment, error) {
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
		if s == nil {
			break // a template names this workflow: its nodes are known when it runs
		}
		n, ok := s.Workflow.Node(seg.ID)
		if !ok {
			return nil, s.unknown(around, seg.ID)
		}
		if i == len(segments)-1 {
			break
		}
		around = strings.TrimPrefix(around+"/"+seg.ID, "/")
		switch {
		case s.Kinds[n.Type].Name != workflow.SubType:
			return nil, fault.New(fault.Usage, "Node %s runs no workflow, so there is no node %s", around, path).Suggest("Name the node itself: %s", around)
		case seg.Item >= 0 && n.Batch == nil:
			return nil, fault.New(fault.Usage, "Node %s has no batch, so it has no item %d", around, seg.Item)
		case seg.Iteration > 1 && n.Loop == nil:
			return nil, fault.New(fault.Usage, "Node %s has no loop, so it has no iteration %d", around, seg.Iteration)
		}
		s = s.Subs[seg.ID]
	}
	return segments, nil
}

// unknown returns the fault of a node that the workflow does not have. around is the path of the node that runs the workflow, or
// empty.
func (s *Sub) unknown(around, id string) *fault.Fault {
	f := fault.New(fault.NotFound, "The workflow has no node %q", id)
	if around != "" {
		f = fault.New(fault.NotFound, "The workflow of node %s has no node %q", around, id)
	}
	ids := s.Workflow.NodeIDs()
	if near, ok := fault.Nearest(id, ids); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f.Offer(id, ids)
}

// enter notes that something inside a node runs again, in an iteration.
func (f *frameSelection) enter(id string, iteration int) {
	if first, ok := f.entered[id]; !ok || iteration < first {
		f.entered[id] = iteration
	}
}

// failures selects the handled failures and the nodes with failed items, at every depth, and returns how many there are. only is
// the node in which they are, or empty.
func (s *selection) failures(only string) (found int) {
	c := s.c
	for queue := slices.Sorted(maps.Keys(c.settled)); len(queue) > 0; {
		path := queue[0]
		queue = queue[1:]
		if only != "" && path != only && !isInside(path, only) {
			continue
		}
		old, err := c.settled[path].read()
		if err != nil {
			continue
		}
		if failedAndHandled(old) {
			if s.pick(path, false) {
				found++
			}
			continue
		}
		if len(old.Warnings) > 0 {
			queue = append(queue, s.expand(path)...)
		}
		if c.failed[path] && s.pick(path, true) {
			found++
		}
	}
	return found
}

// failedAndHandled reports whether an event is the failure of a node that an edge took.
func failedAndHandled(e *event.Event) bool {
	return e.Event == event.NodeFailed || e.Action == workflow.ActionError && e.Error != nil
}

// pick selects the node of a path as events have it, or the failed items of its batch. It reports whether there is such a node.
func (s *selection) pick(path string, items bool) bool {
	segments, ok := event.Segments(path)
	if !ok {
		return false
	}
	prefix, sub := "", s.top
	for _, seg := range segments[:len(segments)-1] {
		s.frame(prefix, sub).enter(seg.ID, max(seg.Iteration, 1))
		prefix += seg.String() + "/"
		if sub != nil {
			sub = sub.Subs[seg.ID]
		}
	}
	id := segments[len(segments)-1].ID
	if sub != nil {
		if n, ok := sub.Workflow.Node(id); !ok || items && n.Batch == nil {
			return false
		}
	}
	if f := s.frame(prefix, sub); items {
		f.items[id] = true
	} else {
		f.whole[id] = true
	}
	return true
}
