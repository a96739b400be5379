package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// table returns the system's processes by their pids. Reading takes a while; a process that starts or ends meanwhile may be
// missing or included.
func table() map[int]procInfo {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := make(map[int]procInfo, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := readProc(pid); ok {
				all[pid] = p
			}
		}
	}
	return all
}

// readProc returns the entry of one process; ok is false if the process no longer exists.
func readProc(pid int) (p procInfo, ok bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return p, false
	}
	// See proc_pid_stat(5). The name, in parentheses, may hold any character. After it come the state, the parent, the
	// group, the session and, as the 20th field, the start time.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return p, false
	}
	p = procInfo{instance: instance{pid, string(fields[19])}, ended: fields[0][0] == 'Z' || fields[0][0] == 'X'}
	p.parent, _ = strconv.Atoi(string(fields[1]))
	p.group, _ = strconv.Atoi(string(fields[2]))
	p.session, _ = strconv.Atoi(string(fields[3]))
	return p, true
}

// childless reports whether this program has no child, not even a zombie.
func childless() bool {
	return errors.Is(unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil), unix.ECHILD)
}

// children returns the children of this program.
func children() map[instance]bool {
	if childless() { // much faster than reading the table
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

// environment returns the environment that a process was started with: NAME=VALUE entries, each between two NUL bytes. It
// is empty for a process that has ended or belongs to another user.
func environment(pid int) []byte {
	env, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return append([]byte{0}, env...)
}
