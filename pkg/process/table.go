package process

import (
	"bytes"
	"os"
	"slices"
	"strings"
)

// instance names a process for good: ids come again, with another start.
type instance struct {
	pid     int
	started string
}

// process is a line of the system's table of processes.
type process struct {
	instance
	parent, group, session int
	ended                  bool // and nobody has waited for it yet
}

// after says whether a process was started after another. Starts are told in hundredths of a second; within one the ids
// tell, which are given in turn.
func (p process) after(other process) bool {
	if p.started == other.started {
		return p.pid > other.pid
	}
	return len(p.started) > len(other.started) || len(p.started) == len(other.started) && p.started > other.started
}

// marked are the processes of this user that have all these variables, NAME=VALUE each, in the environment they were
// started with. By them those are found that have left their group and session. This process is not among them. Only Linux
// shows environments: elsewhere none is found.
func marked(all map[int]process, variables []string) []process {
	if len(variables) == 0 {
		return nil
	}
	var found []process
	for _, p := range all {
		if p.pid != os.Getpid() && !p.ended && has(environment(p.pid), variables...) {
			found = append(found, p)
		}
	}
	return found
}

// has says whether an environment has all of the variables.
func has(env []byte, variables ...string) bool {
	for _, v := range variables {
		if !bytes.Contains(env, []byte("\x00"+v+"\x00")) {
			return false
		}
	}
	return true
}

// another says whether an environment has one of the variables with another value.
func another(env []byte, variables []string) bool {
	return slices.ContainsFunc(variables, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return bytes.Contains(env, []byte("\x00"+name+"=")) && !has(env, v)
	})
}

// outlives is in the environment of a child that was started in a session of its own, and of nobody else.
const outlives = "PFLOW_DETACHED=1"

// inherited are the children that this program had before it started any.
var inherited map[instance]bool

// descendants are those of some processes, without what outlives the program that started it, what this program has
// inherited, and the descendants of both; spared says that there is such.
func descendants(all map[int]process, of ...int) (found []process, spared bool) {
	children := map[int][]process{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	for len(of) > 0 {
		next := children[of[0]]
		of = of[1:]
		for _, p := range next {
			if inherited[p.instance] || has(environment(p.pid), outlives) {
				spared = true
				continue
			}
			found, of = append(found, p), append(of, p.pid)
		}
	}
	return found, spared
}
