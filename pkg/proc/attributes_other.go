//go:build unix && !linux

package proc

import "syscall"

// attributes puts a child into a group, or a session, of its own.
func attributes(session bool) *syscall.SysProcAttr {
	if session {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}
