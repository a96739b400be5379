package process

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// zombie is the state of a process that has ended and has not been waited for (sys/proc.h, SZOMB).
const zombie = 5

// startOf is when a process was started, in microseconds; "" where that is not told, and false for one that has ended.
func startOf(pid int) (start string, there bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return "", !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
	}
	at := info.Proc.P_starttime
	return strconv.FormatInt(at.Sec*1e6+int64(at.Usec), 10), info.Proc.P_stat != zombie
}

// idSpace tells one start of the system from others.
func idSpace() string {
	session, _ := unix.Sysctl("kern.bootsessionuuid")
	return session
}
