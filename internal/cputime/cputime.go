// Package cputime measures what a test computes in CPU time, which is the same on a busy machine.
package cputime

import (
	"runtime"
	"syscall"
	"time"
)

// Of returns how long f computes. What f does in other goroutines does not count on Linux; elsewhere all that this process does counts.
func Of(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := used()
	f()
	return used() - began
}

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
