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
	// groups maps the pid of each child whose group may still have members to its birth.
	groups sync.Map
	// starting is held for reading while a child may exist that is not yet in groups.
	starting sync.RWMutex
	// births counts the children that were ever started, living those in groups.
	births, living atomic.Int64
)

// birth describes the moment at which a child was started.
type birth struct {
	number  int64 // the child's number, counted from 1
	sole    bool  // there was no other child then
	session bool  // the child outlives this program
}

// register starts a child by calling start, and records its group.
func register(c *Command, start func() (pid int, err error)) (pid int, err error) {
	starting.RLock()
	defer starting.RUnlock()
	if pid, err = start(); err == nil {
		groups.Store(pid, birth{births.Add(1), living.Add(1) == 1, c.Session})
	}
	return pid, err
}

// KillChildren kills the groups of all children at once, except those with a session of their own. It is for a program that
// ends without waiting for its children.
func KillChildren() {
	groups.Range(func(pid, born any) bool {
		pgid, ok := pid.(int)
		if b, known := born.(birth); ok && known && !b.session {
			_ = syscall.Kill(-pgid, syscall.SIGKILL)
		}
		return true
	})
}

// unregister removes a child whose group has no member left, or that has outlived its use.
func unregister(pid int) {
	if _, found := groups.LoadAndDelete(pid); found {
		living.Add(-1)
	}
}

// soleChild reports whether no other child has existed since this one was started.
func soleChild(pid int) bool {
	v, _ := groups.Load(pid)
	b, ok := v.(birth)
	return ok && b.sole && b.number == births.Load()
}

// endGroup ends a child's group: SIGTERM, the grace, SIGKILL. The function reaped reports whether the child has been reaped.
// Only then does endGroup reap members of the group that this program has adopted: earlier it could take the child's status
// from whoever waits for it.
func endGroup(pgid int, grace time.Duration, reaped func() bool) {
	left := func() bool {
		if !groupAlive(pgid) {
			return false
		}
		if reaped() {
			collectGroup(pgid)
		}
		return groupAlive(pgid)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !left() || !signalGroup(pgid, sig) {
			return
		}
		// Only its parent can wait for a process, so this polls at growing intervals.
		deadline := time.Now().Add(grace)
		for pause := time.Millisecond; left(); pause = min(2*pause, 50*time.Millisecond) {
			if time.Now().After(deadline) {
				break
			}
			time.Sleep(pause)
		}
	}
}

// endLeftovers ends what is left of the group of a child that has been reaped.
func endLeftovers(pgid int, grace time.Duration) {
	endGroup(pgid, grace, func() bool { return true })
}

// collectGroup reaps the zombies of a group that this program has adopted, see AdoptOrphans: a zombie counts as a member of
// its group.
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
