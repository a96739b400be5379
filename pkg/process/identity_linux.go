package process

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// startOf is when a process was started, in hundredths of a second of the system's uptime; "" where that is not shown, and
// false for one that has ended.
func startOf(pid int) (start string, there bool) {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return "", true // no /proc, or that of other ids
	}
	if p, ok := read(pid); ok {
		return p.started, !p.ended
	}
	return "", !errors.Is(unix.Kill(pid, 0), unix.ESRCH) // /proc can be mounted so that it hides others' processes
}

// idSpace tells one start of the system, and one namespace of process ids and of the time they are told in, from others.
func idSpace() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ids, _ := os.Readlink("/proc/self/ns/pid")
	times, _ := os.Readlink("/proc/self/ns/time")
	return string(boot) + ids + times
}
