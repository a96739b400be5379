package process

import (
	"errors"
	"sync"
	"syscall"
	"time"
)

// told are the processes that have had their SIGTERM from takeDown: a program that has it twice may take the second for
// impatience.
var told sync.Map

// takeDown takes down by the ladder what find finds, and what that starts meanwhile. Find is asked again and again until
// it finds nothing and says that nothing can have escaped it. Those that spare names get no SIGTERM: somebody else, who
// knows better, sees to their end, and only what he leaves is killed.
func takeDown(deadline time.Time, find func() (left []process, whole bool), spare func(process) bool) {
	lost := map[instance]bool{} // those of other users
	for pause := time.Millisecond; time.Now().Before(deadline); pause = min(2*pause, 50*time.Millisecond) {
		left, whole := find()
		left = without(left, lost)
		if len(left) == 0 && whole {
			return
		}
		for _, p := range left {
			if spare != nil && spare(p) {
				continue
			}
			lost[p.instance] = terminate(p)
		}
		time.Sleep(min(pause, time.Until(deadline)))
	}
	kill(find, lost)
}

// kill first stops all that is found until nothing new is, so that nothing is left which starts others, and then kills.
func kill(find func() ([]process, bool), lost map[instance]bool) {
	enough := time.Now().Add(DefaultGrace) // for one that the kernel holds
	stopped := map[instance]bool{}
	for pause := time.Millisecond; time.Now().Before(enough); pause = min(2*pause, 50*time.Millisecond) {
		left, whole := find()
		left = without(left, lost)
		if len(left) == 0 && whole {
			return
		}
		fresh := false
		for _, p := range left {
			if !stopped[p.instance] {
				stopped[p.instance], fresh = true, true
				lost[p.instance] = denied(p, syscall.SIGSTOP)
			}
		}
		if fresh {
			continue
		}
		for _, p := range left {
			Signal(p.pid, syscall.SIGKILL)
		}
		time.Sleep(pause)
	}
}

func without(list []process, lost map[instance]bool) []process {
	kept := list[:0]
	for _, p := range list {
		if !p.ended && !lost[p.instance] {
			kept = append(kept, p)
		}
	}
	return kept
}

// terminate sends a process its SIGTERM, once, and says whether this user may not.
func terminate(p process) (forbidden bool) {
	if _, old := told.LoadOrStore(p.instance, true); old {
		return false
	}
	return denied(p, syscall.SIGTERM)
}

// denied sends a signal and says whether this user may not.
func denied(p process, sig syscall.Signal) bool {
	return errors.Is(syscall.Kill(p.pid, sig), syscall.EPERM)
}

// EndMarked takes down the processes that Marked finds, by the ladder, and what they start meanwhile.
func EndMarked(grace time.Duration, variables ...string) {
	takeDown(time.Now().Add(grace), func() ([]process, bool) { return marked(table(), variables), true }, nil)
}

// endHolders does so with those that are to end with a child, whose marks these are.
func endHolders(grace time.Duration, marks []string) {
	find := func() (left []process, whole bool) {
		for _, p := range marked(table(), marks) {
			if !has(environment(p.pid), outlives) {
				left = append(left, p)
			}
		}
		return left, true
	}
	takeDown(time.Now().Add(grace), find, nil)
}
