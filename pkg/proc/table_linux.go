package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// table reads the system's processes. It takes its time, and what starts or ends meanwhile may or may not be in it.
func table() map[int]process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := make(map[int]process, len(entries))
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil { // it has ended
			continue
		}
		// The name, in parentheses, may hold anything; behind it are the state, the parent, the group and, as the 20th, the start.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 20 {
			continue
		}
		p := process{identity: identity{pid, string(fields[19])}, ended: fields[0][0] == 'Z' || fields[0][0] == 'X'}
		p.parent, _ = strconv.Atoi(string(fields[1]))
		p.group, _ = strconv.Atoi(string(fields[2]))
		all[pid] = p
	}
	return all
}

// environment is what a process was started with, NAME=VALUE each between NUL bytes: empty for one that has ended or
// belongs to another user.
func environment(pid int) []byte {
	env, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return append([]byte{0}, env...)
}
