package event

import "strings"

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
