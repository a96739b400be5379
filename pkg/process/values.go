package process

import (
	"bytes"
	"maps"
	"slices"
)

// EnvironmentValues lists the values that a variable has in the environments of this user's processes, each once. Only Linux shows
// them.
func EnvironmentValues(name string) []string {
	seen := map[string]bool{}
	for pid, p := range table() {
		if p.ended {
			continue
		}
		for kv := range bytes.SplitSeq(environment(pid), []byte{0}) {
			if value, ok := bytes.CutPrefix(kv, []byte(name+"=")); ok {
				seen[string(value)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
