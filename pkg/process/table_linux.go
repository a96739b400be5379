package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// table reads the system's processes. It takes its time, and what starts or ends meanwhile may or may not be in it.
func table() map[int]process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := make(map[int]process, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := read(pid); ok {
				all[pid] = p
			}
		}
	}
	return all
}

// read reads what the system tells of a process; false when it has ended.
func read(pid int) (p process, ok bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return p, false
	}
	// The name, in parentheses, may hold anything; behind it are the state, the parent, the group, the session and, as
	// the 20th, the start.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return p, false
	}
	p = process{instance: instance{pid, string(fields[19])}, ended: fields[0][0] == 'Z' || fields[0][0] == 'X'}
	p.parent, _ = strconv.Atoi(string(fields[1]))
	p.group, _ = strconv.Atoi(string(fields[2]))
	p.session, _ = strconv.Atoi(string(fields[3]))
	return p, true
}

// childless says whether this program has no child, not even one that has ended and has not been waited for.
func childless() bool {
	return errors.Is(unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil), unix.ECHILD)
}

// children are those that this program has.
func children() map[instance]bool {
	if childless() { // which is told much faster than who they are
		return nil
	}
	found := map[instance]bool{}
	for _, p := range table() {
		if p.parent == os.Getpid() {
			found[p.instance] = true
		}
	}
	return found
}

// environment is what a process was started with, NAME=VALUE each between NUL bytes: empty for one that has ended or
// belongs to another user.
func environment(pid int) []byte {
	env, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return append([]byte{0}, env...)
}
