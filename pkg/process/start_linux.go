package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes returns the system attributes of a child. By default it leads a process group of its own and is killed when
// this program dies. A child with a terminal leads a session of its own with that controlling terminal. A child with
// Command.Session leads a session of its own and outlives this program.
//
// The parent-death signal is tied to the thread that forked, see PR_SET_PDEATHSIG(2const). Go ends a thread only when a
// goroutine that is locked to it returns, which nothing in this suite does.
func attributes(c *Command) *syscall.SysProcAttr {
	switch {
	case c.TTY:
		return &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL} // the terminal is descriptor 0
	case c.Session:
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// newPipe returns the two ends of a pipe that no other child inherits.
func newPipe() (read, write int, err error) {
	fds := [2]int{noFD, noFD}
	err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return fds[0], fds[1], err
}

// startProcess starts a child. The handle is a descriptor that becomes readable when the child has ended; it is noFD on a
// kernel before 5.4.
func startProcess(path string, argv []string, attr *syscall.ProcAttr) (pid, handle int, err error) {
	handle = noFD
	attr.Sys.PidFD = &handle
	pid, err = syscall.ForkExec(path, argv, attr)
	return pid, handle, err
}
