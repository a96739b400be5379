package process

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes puts a child into a group of its own that dies with this program, with a terminal into a session of its own
// whose terminal that is, or into a session that does not die with this program.
//
// The parent-death signal is tied to the thread that forked. Go ends a thread only when a goroutine locked to it
// returns, which nothing in this suite does.
func attributes(c *Command) *syscall.SysProcAttr {
	switch {
	case c.TTY:
		return &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL} // the terminal is descriptor 0
	case c.Session:
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// AdoptOrphans makes this program the parent of its descendants whose own parent ends, in the place of the system's first
// process, which may be slow to wait for them or, in a container, never do. It is for a program that starts no process
// which is to outlive it, and has started none yet: what children it has are those of what it was before, such as a shell
// that became it, and stay as they are.
func AdoptOrphans() {
	inherited = children()
	adopting.Store(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil)
	collected.Store(time.Now().UnixNano()) // there is none yet
}

// pipe gives the two ends of a pipe that no other child inherits.
func pipe() (read, write int, err error) {
	fds := [2]int{none, none}
	err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return fds[0], fds[1], err
}

// start starts a child and gives a descriptor that can be read when it has ended, or none on a kernel before 5.4.
func start(path string, argv []string, attr *syscall.ProcAttr) (pid, handle int, err error) {
	handle = none
	attr.Sys.PidFD = &handle
	pid, err = syscall.ForkExec(path, argv, attr)
	return pid, handle, err
}
