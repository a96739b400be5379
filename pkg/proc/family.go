package proc

import "time"

// family is a child with what descends from it and what has its marks.
type family struct {
	child int
	marks []string
	known map[identity]bool
}

// familyOf is asked while the child lives: what descends from a child that has ended is found by its marks alone.
func familyOf(child int, marks []string) *family {
	f := &family{child, marks, map[identity]bool{}}
	if p, ok := table()[child]; ok {
		f.known[p.identity] = true
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
		if p, ok := all[id.pid]; ok && p.identity == id {
			roots = append(roots, id.pid)
		}
	}
	below, _ := descendants(all, roots...)
	for _, p := range append(below, marked(all, f.marks)...) {
		f.known[p.identity] = true
	}
	for id := range f.known {
		if p, ok := all[id.pid]; ok && p.identity == id && p.group != f.child {
			left = append(left, p)
		}
	}
	return left, true
}
