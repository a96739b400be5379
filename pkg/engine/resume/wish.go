package resume

import (
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// Forget strikes out what somebody wishes to run again: then the run resumes as if it had not ended. It returns how many nodes were
// asked for. A node that is not in the workflow is a fault. With Only and RetryFailed it is what has failed in that node.
func (m *Memory) Forget(top *flow.Flow, a event.Again) (asked int, err error) {
	s := &selection{m: m, top: top, inside: map[string]bool{}, frames: map[string]*frameSelection{}}
	for place := range m.rows {
		s.noteInside(place)
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

// selection is what somebody asks to run again of a memory.
type selection struct {
	m   *Memory
	top *flow.Flow
	// inside has the prefixes of the frames of which the memory has a part, such as "build[3]/".
	inside map[string]bool
	// frames has what is selected in each frame, by its prefix.
	frames map[string]*frameSelection
	// lost is the fault of a node whose inside is needed and gone, or nil.
	lost *fault.Fault
}

// frameSelection is what is selected in a frame, by the ids of its nodes.
type frameSelection struct {
	// sub is the frame's workflow, or nil if a template names it.
	sub *flow.Flow
	// whole has the nodes that run again, items those of whose batch the failed items do.
	whole, items map[string]bool
	// entered has the nodes inside which something runs again, by the first iteration of that.
	entered map[string]int
	// behind has the nodes that a node of those above leads to.
	behind map[string]bool
}

func (s *selection) frame(prefix string, sub *flow.Flow) *frameSelection {
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
	segments, err := s.top.Follow(path)
	if err != nil {
		return err
	}
	type place struct {
		prefix string
		sub    *flow.Flow
	}
	places := []place{{"", s.top}}
	for i, seg := range segments[:len(segments)-1] {
		var inner []place
		for _, p := range places {
			n, known := s.node(p.sub, seg.ID)
			outer := p.prefix + seg.ID
			s.expand(outer)
			s.frame(p.prefix, p.sub).enter(seg.ID, max(seg.Iteration, 1))
			var sub *flow.Flow
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
					return fault.New(fault.NotFound, "Run %s has nothing of %s", s.m.Run, strings.TrimSuffix(prefix, "/"))
				}
				inner = append(inner, place{prefix, sub})
			}
		}
		places = inner
	}
	last := segments[len(segments)-1].ID
	for _, p := range places {
		if p.sub == nil && !s.m.begun[p.prefix+last] && s.m.rows[p.prefix+last].of == nil {
			return fault.New(fault.NotFound, "Run %s has no node %s", s.m.Run, p.prefix+last)
		}
		s.frame(p.prefix, p.sub).whole[last] = true
	}
	return nil
}

// node returns a node of a workflow that may be unknown.
func (s *selection) node(sub *flow.Flow, id string) (*workflow.Node, bool) {
	if sub == nil {
		return nil, false
	}
	return sub.Workflow.Node(id)
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
	for queue := s.nodes(""); len(queue) > 0; {
		path := queue[0]
		queue = queue[1:]
		if only != "" && path != only && !isInside(path, only) {
			continue
		}
		old, err := s.m.rows[path].Read()
		if err != nil {
			continue
		}
		if FailedAndHandled(old) {
			if s.pick(path, false) {
				found++
			}
			continue
		}
		if len(old.Warnings) > 0 {
			queue = append(queue, s.expand(path)...)
		}
		if s.m.failed[path] && s.pick(path, true) {
			found++
		}
	}
	return found
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

// expand adds the inside of a node, of its items and of its iterations to the memory. It returns the paths of the settled nodes that
// were added.
func (s *selection) expand(node string) (settled []string) {
	s.note(node, node, s.m.Expand, &settled)
	var parts []string
	for part := range s.m.rows {
		if partOf(part, node) {
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		s.note(part, strings.TrimSuffix(framePrefix(part), "/"), s.m.ExpandPart, &settled)
	}
	slices.Sort(settled)
	return settled
}

// note expands a place of a node, and notes what that has added, or that it is gone.
func (s *selection) note(place, node string, expand func(string) (added []string, gone string), settled *[]string) {
	added, gone := expand(place)
	if gone != "" && s.lost == nil {
		s.lost = fault.New(fault.NotFound, "What is inside node %s cannot be run again on its own: it is in run %s, and that is gone or another's", node, gone).
			Suggest("Run the whole node again, with --from %s", node)
		s.lost.Node = node
	}
	for _, path := range added {
		s.noteInside(path)
		if r, ok := s.m.rows[path]; ok && r.Settles() && r.Node == path {
			*settled = append(*settled, path)
		}
	}
}

// close finds in every frame the nodes that those selected lead to.
func (s *selection) close() {
	for prefix, f := range s.frames {
		selected := map[string]bool{}
		for id := range f.whole {
			selected[id] = true
		}
		for id := range f.items {
			selected[id] = true
		}
		for id := range f.entered {
			selected[id] = true
		}
		f.behind = s.behind(prefix, f, selected)
	}
}

// behind returns the nodes of a frame that the selected ones lead to. Where the workflow is unknown, they are those that settled
// later.
func (s *selection) behind(prefix string, f *frameSelection, selected map[string]bool) map[string]bool {
	if f.sub != nil {
		return plan.Behind(f.sub.Workflow, selected)
	}
	first := int64(-1)
	for id := range selected {
		if r, ok := s.m.rows[prefix+id]; ok && (first < 0 || r.At < first) {
			first = r.At
		}
	}
	behind := map[string]bool{}
	for _, path := range s.nodes(prefix) {
		if id := path[len(prefix):]; !strings.Contains(id, "/") && first >= 0 && s.m.rows[path].At > first {
			behind[id] = true
		}
	}
	return behind
}

// fate is what becomes of a record.
type fate int

const (
	// kept: the record is not selected.
	kept fate = iota
	// reentered: the record is of a node inside which something runs again.
	reentered
	// retried: the record is of a batch whose failed items run again.
	retried
	// redone: the node is selected. following: a selected node leads to it.
	redone
	following
)

// fateOf returns what becomes of the record of a node, or of the item or iteration that a key of parts names.
func (s *selection) fateOf(path string) fate {
	segments, ok := event.Segments(path)
	if !ok {
		return kept
	}
	prefix := ""
	for i, seg := range segments {
		f := s.frames[prefix]
		if f == nil {
			return kept
		}
		last := i == len(segments)-1
		part := last && (seg.Item >= 0 || seg.Iteration > 0)
		first, entered := f.entered[seg.ID]
		switch iteration := max(seg.Iteration, 1); {
		case f.behind[seg.ID]:
			return following
		case f.whole[seg.ID]:
			return redone
		case entered && last && !part:
			return reentered
		case entered && iteration < first:
			return kept
		case entered && iteration > first:
			return following
		case entered && last && seg.Item >= 0 && s.frames[prefix+seg.String()+"/"] == nil:
			return kept
		case entered && last:
			return reentered
		case f.items[seg.ID] && last && !part:
			return retried
		case !entered:
			return kept
		}
		prefix += seg.String() + "/"
	}
	return kept
}

// nodes returns the paths of the finished nodes whose path has a prefix, sorted.
func (s *selection) nodes(prefix string) (paths []string) {
	for place, r := range s.m.rows {
		if r.Settles() && place == r.Node && strings.HasPrefix(place, prefix) {
			paths = append(paths, place)
		}
	}
	slices.Sort(paths)
	return paths
}

// apply strikes out the selected rows, and counts the nodes that had ended. If only one node runs, the nodes that it leads to, and those
// around it, stay as outdated.
func (s *selection) apply(only string) {
	m := s.m
	stays := func(place string, to fate) bool {
		return only != "" && place != only && !isInside(place, only) && (to == following || to == reentered)
	}
	again := map[string]bool{} // the nodes that had ended, or a part of which had, and run again
	for place, r := range m.rows {
		to, node, isNode := s.fateOf(place), r.Node, r.Settles() && r.Node == place
		switch {
		case to == kept:
			continue
		case isNode && stays(place, to):
			r.InputDigest = ""
			m.rows[place], m.outdated[place] = r, only
			continue
		case isNode:
			again[node] = again[node] || to != reentered
		default:
			again[node] = again[node] || to != reentered && !stays(place, to)
		}
		delete(m.rows, place)
		m.forgotten[place] = m.forgotten[place] || to == redone || to == following && !stays(place, to)
	}
	for prefix, f := range s.frames { // an older run may have what the last one has not
		for _, ids := range []map[string]bool{f.whole, f.behind} {
			for id := range ids {
				path := prefix + id
				if only != "" && path != only {
					continue
				}
				if _, known := m.forgotten[path]; !known {
					_, ended := m.older(path, path)
					again[path] = again[path] || ended
				}
				m.forgotten[path] = true
			}
		}
	}
	for path, q := range m.questions {
		if again[path] && q.answer != nil {
			q.answer, q.open = nil, false
		}
		if to := s.fateOf(path); to == redone || to == following && !stays(path, to) {
			q.own, q.ownAnswer = nil, nil
		}
	}
	for path := range m.begun {
		if to := s.fateOf(path); to == redone || to == following {
			delete(m.begun, path)
		}
	}
	for path, counts := range again {
		for around := event.Enclosing(path); around != "" && counts; around = event.Enclosing(around) {
			counts = !again[around] // its count counts for all that is inside it
		}
		if counts {
			m.reruns[path]++
		}
	}
}
