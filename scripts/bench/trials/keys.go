package main

import "maps"

// nodeKeys has the values of PFLOW_NODE_KEY of each node, item and iteration, with how often it ran with it.
type nodeKeys map[string]map[string]int

// note adds an execution. A node that has no process of its own has no key, "-".
func (k nodeKeys) note(what, key string) {
	if key == "-" {
		return
	}
	if k[what] == nil {
		k[what] = map[string]int{}
	}
	k[what][key]++
}

// verifyKeys checks that each node, item and iteration had the same key in all attempts and in all runs of the chain, and no other
// had it. An iteration counts once for all attempts.
func (t *trial) verifyKeys(keys nodeKeys) {
	owner := map[string]string{}
	for what, values := range keys {
		times := 0
		for key, n := range values {
			times += n
			if other, taken := owner[key]; taken {
				t.Changed++
				t.complain("%s and %s have the same node key", what, other)
			}
			owner[key] = what
		}
		if times > 1 {
			t.Keys++
		}
		if len(values) > 1 {
			t.Changed++
			t.complain("%s has %d node keys: %v", what, len(values), maps.Collect(maps.All(values)))
		}
	}
}
