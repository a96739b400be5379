package workflow

import (
	"slices"
	"strconv"
	"strings"
)

// called names a path in an error.
func called(path string) string {
	if path == "" || path == "ir" {
		return "the workflow"
	}
	return path
}

// pathStep is one part of a path: a key of an object or, if list is set, an index of a list.
type pathStep struct {
	key   string
	index int
	list  bool
}

// stepsOf splits a path such as nodes[1].params["a.b"].
func stepsOf(path string) []pathStep {
	var steps []pathStep
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case strings.HasPrefix(path, `["`):
			quoted, err := strconv.QuotedPrefix(path[1:])
			if err != nil {
				return steps
			}
			key, _ := strconv.Unquote(quoted)
			steps, path = append(steps, pathStep{key: key}), strings.TrimPrefix(path[1+len(quoted):], "]")
		case path[0] == '[':
			digits, rest, _ := strings.Cut(path[1:], "]")
			n, err := strconv.Atoi(digits)
			if err != nil || n < 0 {
				return steps
			}
			steps, path = append(steps, pathStep{index: n, list: true}), rest
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			steps, path = append(steps, pathStep{key: path[:end]}), path[end:]
		}
	}
	return steps
}

// spellings returns the other paths that a path can have in a JSON file, because fields have synonyms, and a node's
// params.inputs may be written beside params.
func spellings(steps []pathStep) (others [][]pathStep) {
	i := slices.IndexFunc(steps, func(s pathStep) bool { return s.list }) + 1
	if i < 2 || i >= len(steps) {
		return nil
	}
	replace := func(key string) {
		other := slices.Clone(steps)
		other[i].key = key
		others = append(others, other)
	}
	switch steps[i-2].key + "." + steps[i].key {
	case "edges.from":
		replace("source")
	case "edges.to":
		replace("target")
	case "nodes.params":
		replace("parameters")
		if i+1 < len(steps) && steps[i+1].key == "inputs" {
			others = append(others, slices.Delete(slices.Clone(steps), i, i+1))
		}
	}
	return others
}
