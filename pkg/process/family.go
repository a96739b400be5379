package process

import (
	"os"
	"time"
)

// family is a child with what descends from it and what has its marks.
type family struct {
	child   int
	marks   []string
	session bool    // it leads one
	first   process // the child as it was found
	known   map[instance]bool
}

// familyOf is asked while the child lives: what descends from a child that has ended is found by its marks alone.
func familyOf(child int, c *Command) *family {
	f := &family{child: child, marks: c.Marks, session: c.TTY, known: map[instance]bool{}}
	if p, ok := table()[child]; ok {
		f.first = p
		f.known[p.instance] = true
	}
	return f
}

// end takes down by the ladder what has left the child's group.
func (f *family) end(grace time.Duration) {
	takeDown(time.Now().Add(grace), f.find, func(p process) bool { return another(environment(p.pid), f.marks) })
}

// find also finds those whose parent has ended since they were first found.
func (f *family) find() (left []process, whole bool) {
	all := table()
	var roots []int
	for id := range f.known {
		if p, ok := all[id.pid]; ok && p.instance == id {
			roots = append(roots, id.pid)
		}
	}
	below, _ := descendants(all, roots...)
	below = append(append(below, marked(all, f.marks)...), f.orphans(all)...)
	if f.session {
		below = append(below, sessionOf(all, f.child)...)
	}
	for _, p := range below {
		f.known[p.instance] = true
	}
	for id := range f.known {
		if p, ok := all[id.pid]; ok && p.instance == id && p.group != f.child {
			left = append(left, p)
		}
	}
	return left, true
}

// orphans are those of the program's that must be the child's, though nothing says so: they have cleared their environment,
// and since the child was started there has been no other from which they could descend.
func (f *family) orphans(all map[int]process) (found []process) {
	starting.Lock() // from here on births has every child that may be in the table
	alone := sole(f.child)
	starting.Unlock()
	if !alone || f.first.pid == 0 || len(f.marks) == 0 {
		return nil
	}
	for _, p := range all {
		if p.parent != os.Getpid() || p.ended || p.pid == f.child || !p.after(f.first) {
			continue
		}
		if env := environment(p.pid); !has(env, outlives) && !another(env, f.marks) {
			found = append(found, p)
		}
	}
	return found
}

// sessionOf are the processes of a session that have not ended. A shell with job control gives each of its jobs a group.
func sessionOf(all map[int]process, leader int) (found []process) {
	for _, p := range all {
		if p.session == leader && !p.ended {
			found = append(found, p)
		}
	}
	return found
}

// endSession takes down what is left of the session of a child that has ended and has been waited for.
func endSession(leader int, grace time.Duration) {
	takeDown(time.Now().Add(grace), func() ([]process, bool) { return sessionOf(table(), leader), true }, nil)
}
