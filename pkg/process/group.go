package process

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var (
	// groups are those of the children that were started and not yet done with: a birth each, by their ids.
	groups sync.Map
	// starting is held for reading while there may be a child that groups does not have yet.
	starting       sync.RWMutex
	births, living atomic.Int64
)

// birth is when a child was started: how many were before it, and whether there was no other one then.
type birth struct {
	number  int64
	sole    bool
	session bool // it is to outlive this program
}

// started has a child started and notes its group.
func started(c *Command, start func() (pid int, err error)) (pid int, err error) {
	starting.RLock()
	defer starting.RUnlock()
	if pid, err = start(); err == nil {
		groups.Store(pid, birth{births.Add(1), living.Add(1) == 1, c.Session})
	}
	return pid, err
}

// KillChildren kills the groups of all children at once, but for those with a session of their own, for a program that is
// to end without waiting for them.
func KillChildren() {
	groups.Range(func(pid, born any) bool {
		pgid, ok := pid.(int)
		if b, known := born.(birth); ok && known && !b.session {
			_ = syscall.Kill(-pgid, syscall.SIGKILL)
		}
		return true
	})
}

// done forgets a child of which nothing is left.
func done(pid int) {
	groups.Delete(pid)
	living.Add(-1)
}

// sole says whether there has been no other child since this one was started.
func sole(pid int) bool {
	v, _ := groups.Load(pid)
	b, ok := v.(birth)
	return ok && b.sole && b.number == births.Load()
}

// endGroup takes a child's group down by the ladder. Waited says whether the child has been waited for: before that its
// status is not to be lost, after it what it left to this program is waited for here.
func endGroup(pgid int, grace time.Duration, waited func() bool) {
	left := func() bool {
		if !groupAlive(pgid) {
			return false
		}
		if waited() {
			collectGroup(pgid)
		}
		return groupAlive(pgid)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !left() || !signalGroup(pgid, sig) {
			return
		}
		// A process cannot be waited for by those who are not its parent, so this asks again at growing intervals.
		deadline := time.Now().Add(grace)
		for pause := time.Millisecond; left(); pause = min(2*pause, 50*time.Millisecond) {
			if time.Now().After(deadline) {
				break
			}
			time.Sleep(pause)
		}
	}
}

// reap takes down what a child left in its group that has ended and has been waited for.
func reap(pgid int, grace time.Duration) {
	endGroup(pgid, grace, func() bool { return true })
}

// collectGroup waits for the processes of a group that have ended and whose parent this program has become, see AdoptOrphans:
// until somebody does, they count as members of the group.
func collectGroup(pgid int) {
	for {
		if pid, err := unix.Wait4(-pgid, nil, unix.WNOHANG, nil); pid <= 0 && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func groupAlive(pgid int) bool {
	return !errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH)
}

func signalGroup(pgid int, sig syscall.Signal) bool {
	return syscall.Kill(-pgid, sig) == nil
}
