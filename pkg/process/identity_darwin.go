package process

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// zombie is the state of a process that has ended and has not been reaped (sys/proc.h, SZOMB).
const zombie = 5

// startTime returns the time at which a process was started, in microseconds since 1970, or "" if it is unknown; there is
// false if the process has ended.
func startTime(pid int) (start string, there bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return "", !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
	}
	at := info.Proc.P_starttime
	return strconv.FormatInt(at.Sec*1e6+int64(at.Usec), 10), info.Proc.P_stat != zombie
}

// idSpace returns a text that identifies the boot.
func idSpace() string {
	session, _ := unix.Sysctl("kern.bootsessionuuid")
	return session
}
