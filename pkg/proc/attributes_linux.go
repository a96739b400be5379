package proc

import "syscall"

// attributes puts a child into a group of its own that dies with this program, or into a session that does not.
//
// The parent-death signal is tied to the thread that forked. Go ends a thread only when a goroutine locked to it
// returns, which nothing in this suite does.
func attributes(session bool) *syscall.SysProcAttr {
	if session {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
