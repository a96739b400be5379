package proc

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// groups are those of the children that were started and not yet done with, by their ids.
var groups sync.Map

// endGroup takes a child's group down by the ladder. Waited says whether the child has been waited for: before that its
// status is not to be lost, after it what it left to this program is waited for here.
func endGroup(pgid int, grace time.Duration, waited func() bool) {
	left := func() bool {
		if waited() {
			collect(pgid)
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

// collect waits for the processes of a group that have ended and whose parent this program has become, see AdoptOrphans:
// until somebody does, they count as members of the group.
func collect(pgid int) {
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
