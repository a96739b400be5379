package process

import (
	"errors"
	"math"
	"sync"
	"syscall"
	"time"
)

// terminated holds the instances that have received SIGTERM from this program. Each receives it once: many programs take a
// second one as the request to end at once, without cleaning up.
var terminated sync.Map

// takeDown ends the processes that find returns and what they start meanwhile: SIGTERM, and SIGKILL after the deadline. It
// calls find until that returns no process and a complete list. A process for which spare returns true gets no SIGTERM,
// because the program that started it ends it; it is killed if it is still alive after the deadline. A nil spare spares
// none.
func takeDown(deadline time.Time, find func() (left []procInfo, complete bool), spare func(procInfo) bool) {
	forbidden := map[instance]bool{} // processes of other users
	for pause := time.Millisecond; time.Now().Before(deadline); pause = min(2*pause, 50*time.Millisecond) {
		left, complete := find()
		left = killable(left, forbidden)
		if len(left) == 0 && complete {
			return
		}
		for _, p := range left {
			if spare != nil && spare(p) {
				continue
			}
			forbidden[p.instance] = terminate(p)
		}
		time.Sleep(min(pause, time.Until(deadline)))
	}
	kill(find, forbidden)
}

// kill stops the processes that find returns with SIGSTOP until find returns no new one, so that none can start others, and
// then kills them.
func kill(find func() ([]procInfo, bool), forbidden map[instance]bool) {
	var enough time.Time // a process may hang in the kernel
	stopped, fewest := map[instance]bool{}, math.MaxInt
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		left, complete := find()
		left = killable(left, forbidden)
		switch {
		case len(left) == 0 && complete:
			return
		case len(left) < fewest: // on a busy machine it takes long until all that are killed get a turn
			fewest, enough = len(left), time.Now().Add(DefaultGrace)
		case time.Now().After(enough):
			return
		}
		fresh := false
		for _, p := range left {
			if !stopped[p.instance] {
				stopped[p.instance], fresh = true, true
				forbidden[p.instance] = denied(p, syscall.SIGSTOP)
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

// killable returns the processes that have not ended and to which this user may send signals. It reuses list.
func killable(list []procInfo, forbidden map[instance]bool) []procInfo {
	kept := list[:0]
	for _, p := range list {
		if !p.ended && !forbidden[p.instance] {
			kept = append(kept, p)
		}
	}
	return kept
}

// terminate sends SIGTERM to a process unless it has received it, and reports whether this user may not.
func terminate(p procInfo) (forbidden bool) {
	if _, old := terminated.LoadOrStore(p.instance, true); old {
		return false
	}
	return denied(p, syscall.SIGTERM)
}

// denied sends a signal and reports whether this user may not.
func denied(p procInfo, sig syscall.Signal) bool {
	return errors.Is(syscall.Kill(p.pid, sig), syscall.EPERM)
}
