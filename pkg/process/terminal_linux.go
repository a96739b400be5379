package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// getTermios is the ioctl request that reads the settings of a terminal.
const getTermios = unix.TCGETS

// busy reports whether a process or one of its descendants runs or waits for a disk.
func busy(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	if i := bytes.LastIndexByte(stat, ')') + 2; i < len(stat) && (stat[i] == 'R' || stat[i] == 'D') {
		return true
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	for child := range bytes.FieldsSeq(children) {
		if pid, err := strconv.Atoi(string(child)); err == nil && busy(pid) {
			return true
		}
	}
	return false
}
