package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// getTermios is the ioctl request that reads the settings of a terminal.
const getTermios = unix.TCGETS

// busy returns the CPU time of a process and its descendants, and reports whether one of them runs or waits for a disk.
func busy(pid int) (work time.Duration, works bool) {
	const tick = time.Second / 100 // proc_pid_stat(5), utime to cstime; it is the same on all machines
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return 0, false
	}
	works = fields[0][0] == 'R' || fields[0][0] == 'D'
	for _, field := range fields[11:15] {
		n, _ := strconv.Atoi(string(field))
		work += time.Duration(n) * tick
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	for child := range bytes.FieldsSeq(children) {
		if pid, err := strconv.Atoi(string(child)); err == nil {
			more, also := busy(pid)
			work, works = work+more, works || also
		}
	}
	return work, works
}
