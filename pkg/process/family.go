package process

import (
	"os"
	"time"
)

// family is a child, its descendants, and the processes that have its marks.
type family struct {
	child   int
	marks   []string
	session bool     // the child leads a session
	first   procInfo // the child; zero if it had ended already
	known   map[instance]bool
}

// familyOf returns the family of a child. Call it while the child lives: the descendants of a child that has ended are found
// by their marks alone.
func familyOf(child int, c *Command) *family {
	f := &family{child: child, marks: c.Marks, session: c.TTY, known: map[instance]bool{}}
	if p, ok := table()[child]; ok {
		f.first = p
		f.known[p.instance] = true
	}
	return f
}

// end ends the members of the family that have left the child's group: SIGTERM, the grace, SIGKILL.
func (f *family) end(grace time.Duration) {
	takeDown(time.Now().Add(grace), f.find, func(p procInfo) bool { return differs(environment(p.pid), f.marks) })
}

// find returns the members of the family that have left the child's group, also those whose parents have ended since an
// earlier call found them.
func (f *family) find() (left []procInfo, complete bool) {
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

// orphans returns adopted orphans that descend from the child although neither descent nor marks show it: they have cleared
// their environment. They can only be the child's if this program has started no other child since.
func (f *family) orphans(all map[int]procInfo) (found []procInfo) {
	starting.Lock() // now births counts every child that may be in the table
	alone := soleChild(f.child)
	starting.Unlock()
	if !alone || f.first.pid == 0 || len(f.marks) == 0 {
		return nil
	}
	for _, p := range all {
		if p.parent != os.Getpid() || p.ended || p.pid == f.child || !p.after(f.first) {
			continue
		}
		if env := environment(p.pid); !hasAll(env, outlives) && !differs(env, f.marks) {
			found = append(found, p)
		}
	}
	return found
}

// sessionOf returns the processes of a session that have not ended. They may be in several groups: a shell with job control
// puts each job in a group of its own.
func sessionOf(all map[int]procInfo, leader int) (found []procInfo) {
	for _, p := range all {
		if p.session == leader && !p.ended {
			found = append(found, p)
		}
	}
	return found
}

// endSession ends what is left of the session of a child that has been reaped.
func endSession(leader int, grace time.Duration) {
	takeDown(time.Now().Add(grace), func() ([]procInfo, bool) { return sessionOf(table(), leader), true }, nil)
}
