package event

import "strings"

// Enclosing is the path of the node whose sub-workflow a node is in, without the item or the iteration; empty for one of
// the workflow's own.
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
