package engine

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// expand adds the inside of a node, of its items and of its iterations to the checkpoint. It returns the paths of the settled nodes that
// were added.
func (s *selection) expand(node string) (settled []string) {
	s.note(node, node, s.c.expand, &settled)
	var parts []string
	for part := range s.c.parts {
		if partOf(part, node) {
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		s.note(part, strings.TrimSuffix(framePrefix(part), "/"), s.c.expandPart, &settled)
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
		if _, ok := s.c.settled[path]; ok {
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
		if r, ok := s.c.settled[prefix+id]; ok && (first < 0 || r.At < first) {
			first = r.At
		}
	}
	behind := map[string]bool{}
	for path, r := range s.c.settled {
		id, ok := strings.CutPrefix(path, prefix)
		if ok && !strings.Contains(id, "/") && first >= 0 && r.At > first {
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

// apply takes the selected records out of the checkpoint, and counts the nodes that had ended. If only one node runs, the nodes
// that it leads to, and those around it, stay as outdated.
func (s *selection) apply(only string) {
	c := s.c
	stays := func(path string, to fate) bool {
		return only != "" && path != only && !isInside(path, only) && (to == following || to == reentered)
	}
	again := map[string]bool{} // the nodes that had ended, or a part of which had, and run again
	for path, r := range c.settled {
		switch to := s.fateOf(path); {
		case to == kept:
		case stays(path, to):
			r.InputDigest = ""
			c.settled[path], c.outdated[path] = r, true
		default:
			again[path] = again[path] || to != reentered
			delete(c.settled, path)
		}
	}
	for key := range c.parts {
		to := s.fateOf(key)
		if to == kept {
			continue
		}
		delete(c.parts, key)
		node := key[:strings.LastIndexAny(key, "[#")]
		again[node] = again[node] || to != reentered && !stays(key, to)
	}
	for path := range c.answers {
		if again[path] {
			delete(c.answers, path)
			c.Open[path] = false
		}
	}
	for path := range c.own {
		if to := s.fateOf(path); to == redone || to == following && !stays(path, to) {
			delete(c.own, path)
			delete(c.ownAnswers, path)
		}
	}
	for path := range c.begun {
		if to := s.fateOf(path); to == redone || to == following {
			delete(c.begun, path)
		}
	}
	for path, counts := range again {
		for around := event.Enclosing(path); around != "" && counts; around = event.Enclosing(around) {
			counts = !again[around] // its count counts for all that is inside it
		}
		if counts {
			c.reruns[path]++
		}
	}
}
