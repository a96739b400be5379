package process

// instance identifies one process: the system reuses a pid, but with another start time.
type instance struct {
	pid     int
	started string
}

// procInfo is one entry of the system's process table.
type procInfo struct {
	instance
	parent, group, session int
	ended                  bool // a zombie: it has ended and has not been reaped yet
}

// after reports whether p was started after other. Start times count hundredths of a second; within one, the larger pid is
// the later process.
func (p procInfo) after(other procInfo) bool {
	if p.started == other.started {
		return p.pid > other.pid
	}
	return len(p.started) > len(other.started) || len(p.started) == len(other.started) && p.started > other.started
}

// inherited holds the children that this program had before it started any, see AdoptOrphans.
var inherited map[instance]bool

// descendants returns the descendants of the given processes. It leaves out processes that outlive the program that started
// them, processes that this program has inherited, and the descendants of both; spared reports whether there were any.
func descendants(all map[int]procInfo, of ...int) (found []procInfo, spared bool) {
	children := map[int][]procInfo{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	for len(of) > 0 {
		next := children[of[0]]
		of = of[1:]
		for _, p := range next {
			if inherited[p.instance] || hasAll(environment(p.pid), outlives) {
				spared = true
				continue
			}
			found, of = append(found, p), append(of, p.pid)
		}
	}
	return found, spared
}
