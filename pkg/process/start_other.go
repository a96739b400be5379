//go:build unix && !linux

package process

import "syscall"

// attributes returns the system attributes of a child, which leads a process group or a session of its own.
func attributes(c *Command) *syscall.SysProcAttr {
	switch {
	case c.TTY:
		return &syscall.SysProcAttr{Setsid: true, Setctty: true} // the terminal is descriptor 0
	case c.Session:
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// newPipe returns the two ends of a pipe that no other child inherits.
func newPipe() (read, write int, err error) {
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

// startProcess starts a child. The handle is always noFD: there is no descriptor that becomes readable when a child ends.
func startProcess(path string, argv []string, attr *syscall.ProcAttr) (pid, handle int, err error) {
	pid, err = syscall.ForkExec(path, argv, attr)
	return pid, noFD, err
}
