package proc

import (
	"bytes"
	"os"
	"strconv"
)

// Marked lists the processes of this user that have a variable, NAME=VALUE, in the environment they were started with.
// By it those are found that have left their group and session. This process is not among them.
func Marked(variable string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	mark := []byte("\x00" + variable + "\x00")
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ") // empty for a process that has ended
		if err == nil && bytes.Contains(append([]byte{0}, env...), mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}
