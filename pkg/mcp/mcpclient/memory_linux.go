package mcpclient

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// residentMemory returns the resident bytes of all processes in a group. ok is false if they are not known.
func residentMemory(pgid int) (sum int64, ok bool) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, false
	}
	page := int64(os.Getpagesize())
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		// The second field, the program's name in parentheses, may contain anything. Field 3 follows it (proc_pid_stat(5)).
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		const group, resident = 5 - 3, 24 - 3
		if len(fields) <= resident || string(fields[group]) != strconv.Itoa(pgid) {
			continue
		}
		if pages, err := strconv.ParseInt(string(fields[resident]), 10, 64); err == nil {
			sum, ok = sum+pages*page, true
		}
	}
	return sum, ok
}
