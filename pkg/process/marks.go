package process

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// outlives marks a child that was started in a session of its own, which outlives its parent.
const outlives = "PFLOW_DETACHED=1"

// marked returns the processes of this user whose initial environment has all of the variables, NAME=VALUE each, except this
// process. So it finds processes that have left their group and session. Only Linux shows environments; elsewhere it returns
// nil.
func marked(all map[int]procInfo, variables []string) []procInfo {
	if len(variables) == 0 {
		return nil
	}
	var found []procInfo
	for _, p := range all {
		if p.pid != os.Getpid() && !p.ended && hasAll(environment(p.pid), variables...) {
			found = append(found, p)
		}
	}
	return found
}

// markedAny returns the processes of this user whose initial environment has one of the variables, NAME=VALUE each, except
// this process.
func markedAny(all map[int]procInfo, variables map[string]bool) (found []procInfo) {
	for _, p := range all {
		if p.pid == os.Getpid() || p.ended {
			continue
		}
		for kv := range bytes.SplitSeq(environment(p.pid), []byte{0}) {
			if variables[string(kv)] {
				found = append(found, p)
				break
			}
		}
	}
	return found
}

// hasAll reports whether an environment has all of the variables.
func hasAll(env []byte, variables ...string) bool {
	for _, v := range variables {
		if !bytes.Contains(env, []byte("\x00"+v+"\x00")) {
			return false
		}
	}
	return true
}

// differs reports whether an environment has one of the variables with another value.
func differs(env []byte, variables []string) bool {
	return slices.ContainsFunc(variables, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return bytes.Contains(env, []byte("\x00"+name+"=")) && !hasAll(env, v)
	})
}

// EnvironmentValues returns the values that a variable has in the environments of this user's processes, sorted, each once.
// Only Linux shows environments; elsewhere it returns nil.
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

// EndMarked ends the processes of this user that have all of the variables, NAME=VALUE each, in their initial environment,
// and what they start meanwhile: SIGTERM, the grace, SIGKILL. This process is spared.
func EndMarked(grace time.Duration, variables ...string) {
	takeDown(time.Now().Add(grace), func() ([]procInfo, bool) { return marked(table(), variables), true }, nil)
}

// endHolders ends the processes that have a child's marks, except those that outlive the program that started them.
func endHolders(grace time.Duration, marks []string) {
	find := func() (left []procInfo, complete bool) {
		for _, p := range marked(table(), marks) {
			if !hasAll(environment(p.pid), outlives) {
				left = append(left, p)
			}
		}
		return left, true
	}
	takeDown(time.Now().Add(grace), find, nil)
}
