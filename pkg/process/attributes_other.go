//go:build unix && !linux

package process

import "syscall"

// attributes puts a child into a group, or a session, of its own.
func attributes(c *Command) *syscall.SysProcAttr {
	switch {
	case c.TTY:
		return &syscall.SysProcAttr{Setsid: true, Setctty: true} // the terminal is descriptor 0
	case c.Session:
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

// start starts a child. There is no descriptor that tells of its end.
func start(path string, argv []string, attr *syscall.ProcAttr) (pid, handle int, err error) {
	pid, err = syscall.ForkExec(path, argv, attr)
	return pid, none, err
}
