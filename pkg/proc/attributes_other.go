//go:build unix && !linux

package proc

import (
	"os"
	"syscall"
)

// attributes puts a child into a group, or a session, of its own.
func attributes(session bool) *syscall.SysProcAttr {
	if session {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// AdoptOrphans does nothing here: the system's first process waits for orphans.
func AdoptOrphans() {}

// pipe gives the two ends of a pipe that no other child inherits.
func pipe() (read, write int, err error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(fds[:]); err != nil {
		return -1, -1, err
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return fds[0], fds[1], nil
}

// watch gives a descriptor that can be read when the process has ended, and a function that waits for it.
func watch(p *os.Process) (fd int, wait func() *os.ProcessState) { return watchByWaiting(p, pipe) }
