package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
)

// Marked lists the processes of this user that have all these variables, NAME=VALUE each, in the environment they were
// started with. By them those are found that have left their group and session. This process is not among them.
func Marked(variables ...string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ") // empty for a process that has ended
		lacks := func(variable string) bool {
			return !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+variable+"\x00"))
		}
		if err == nil && !slices.ContainsFunc(variables, lacks) {
			pids = append(pids, pid)
		}
	}
	return pids
}
