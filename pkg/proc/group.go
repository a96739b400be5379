package proc

import (
	"errors"
	"syscall"
	"time"
)

// terminate sends SIGTERM to a process group and, when the grace is over and some of it is still there, SIGKILL.
// It returns when the group is gone or has been killed.
func terminate(pgid int, grace time.Duration) {
	if !signalGroup(pgid, syscall.SIGTERM) {
		return
	}
	if !awaitGone(pgid, grace) {
		signalGroup(pgid, syscall.SIGKILL)
	}
}

// reap takes down what a child that has ended left in its group.
func reap(pgid int, grace time.Duration) {
	if groupAlive(pgid) {
		terminate(pgid, grace)
	}
}

// awaitGone waits until no process of the group is left, at most for d. A process cannot be waited for by those who
// are not its parent, so this asks again at growing intervals.
func awaitGone(pgid int, d time.Duration) bool {
	deadline := time.Now().Add(d)
	for pause := time.Millisecond; groupAlive(pgid); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

func groupAlive(pgid int) bool {
	return !errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH)
}

func signalGroup(pgid int, sig syscall.Signal) bool {
	return syscall.Kill(-pgid, sig) == nil
}

// EndMarked takes down the processes that Marked finds, by the ladder, and what they start meanwhile.
func EndMarked(variable string, grace time.Duration) {
	deadline := time.Now().Add(grace)
	sig := syscall.SIGTERM
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		pids := Marked(variable)
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
