package proc

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// terminate takes down the group of a child that has not been waited for.
func terminate(pgid int, grace time.Duration) {
	end(pgid, grace, func() bool { return groupAlive(pgid) })
}

// reap takes down what a child left in its group that has ended and has been waited for.
func reap(pgid int, grace time.Duration) {
	left := func() bool {
		collect(pgid)
		return groupAlive(pgid)
	}
	if left() {
		end(pgid, grace, left)
	}
}

// end sends SIGTERM to a group and, when some of it is left after the grace, SIGKILL. A process cannot be waited for by
// those who are not its parent, so it asks again at growing intervals.
func end(pgid int, grace time.Duration, left func() bool) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !signalGroup(pgid, sig) {
			return
		}
		deadline := time.Now().Add(grace)
		for pause := time.Millisecond; left(); pause = min(2*pause, 50*time.Millisecond) {
			if time.Now().After(deadline) {
				break
			}
			time.Sleep(pause)
		}
	}
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

// EndMarked takes down the processes that Marked finds, by the ladder, and what they start meanwhile.
func EndMarked(grace time.Duration, variables ...string) {
	deadline := time.Now().Add(grace)
	sig := syscall.SIGTERM
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		pids := Marked(variables...)
		if len(pids) == 0 {
			return
		}
		switch {
		case time.Now().After(deadline.Add(grace)): // not to be killed: a process that the kernel holds
			return
		case time.Now().After(deadline):
			sig = syscall.SIGKILL
		}
		for _, pid := range pids {
			Signal(pid, sig)
		}
		time.Sleep(pause)
	}
}
