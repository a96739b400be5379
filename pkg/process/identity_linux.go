package process

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// startTime returns the time at which a process was started, in hundredths of a second since the boot, or "" if it is not
// visible; there is false if the process has ended.
func startTime(pid int) (start string, there bool) {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return "", true // no /proc, or that of another pid namespace
	}
	if p, ok := readProc(pid); ok {
		return p.started, !p.ended
	}
	return "", !errors.Is(unix.Kill(pid, 0), unix.ESRCH) // /proc may be mounted with hidepid
}

// idSpace returns a text that identifies the boot, the pid namespace and the time namespace.
func idSpace() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ids, _ := os.Readlink("/proc/self/ns/pid")
	times, _ := os.Readlink("/proc/self/ns/time")
	return string(boot) + ids + times
}
