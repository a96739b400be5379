package event

import (
	"strconv"
	"strings"
)

// Segment is one node in the path of a node. Item is the index of the item, or -1; Iteration is the iteration of the node's loop
// that the path names, or 0 if it names none.
type Segment struct {
	ID              string
	Item, Iteration int
}

// Segments splits a path. ok is false if it is not the path of a node.
func Segments(path string) (segments []Segment, ok bool) {
	for part := range strings.SplitSeq(path, "/") {
		s := Segment{ID: part, Item: -1}
		var err error
		if id, item, is := strings.Cut(part, "["); is {
			number, closed := strings.CutSuffix(item, "]")
			s.ID = id
			if s.Item, err = strconv.Atoi(number); err != nil || !closed || s.Item < 0 {
				return nil, false
			}
		} else if id, iteration, is := strings.Cut(part, "#"); is {
			s.ID = id
			if s.Iteration, err = strconv.Atoi(iteration); err != nil || s.Iteration < 1 {
				return nil, false
			}
		}
		if s.ID == "" {
			return nil, false
		}
		segments = append(segments, s)
	}
	return segments, true
}

// Enclosing returns the path of the node whose sub-workflow contains a node, without its item and iteration. It is empty for
// a node of the workflow itself.
func Enclosing(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ""
	}
	around := path[:i]
	last := around[strings.LastIndexByte(around, '/')+1:]
	if k := strings.IndexAny(last, "[#"); k >= 0 {
		return around[:len(around)-len(last)+k]
	}
	return around
}

// String returns the segment as paths have it.
func (s Segment) String() string {
	switch {
	case s.Item >= 0:
		return s.ID + "[" + strconv.Itoa(s.Item) + "]"
	case s.Iteration > 1:
		return s.ID + "#" + strconv.Itoa(s.Iteration)
	}
	return s.ID
}

// GenericPath returns a node's path without the numbers of items and iterations.
func GenericPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if end := strings.IndexAny(part, "[#"); end >= 0 {
			parts[i] = part[:end]
		}
	}
	return strings.Join(parts, "/")
}
