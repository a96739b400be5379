package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// A runner that neither ends nor says anything holds an attempt up to its time limit, and ends with it.
func TestASilentRunner(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.runner("far", "echo $$ > runner; kill -STOP $$\n")
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","runs_on":"far","timeout":"5s","params":{"command":"echo ran > ran"}}]}`)
	d := gjson.Parse(p.run("pflow-exec", "run", "w.json", "--format", "json").stdout)
	if d.Get("error.type").Str != "timeout" || d.Get("error.node").Str != "a" {
		t.Errorf("%s", d.Raw)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(p.read("runner")))
	if err != nil || syscall.Kill(pid, 0) == nil {
		t.Errorf("the runner %d has not ended (%v)", pid, err)
	}
}

// When the other side of a connection stops to answer, ssh notices that itself, if it is told to. The other end stops when the
// connection is closed there.
func TestASilentConnection(t *testing.T) {
	t.Parallel()
	login, server := sshServer(t)
	p := newPlace(t)
	p.write("w.json", `{"runs_on":"far","nodes":[{"id":"a","type":"shell","params":{"command":"echo $$ > pid; exec sleep 1000"}}]}`)
	run := p.started("w.json", "--runs-on", "far="+login+"-o ServerAliveInterval=1 127.0.0.1 '"+p.attempt()+"'")
	p.eventually("the node runs", func() bool { return strings.HasSuffix(p.read("pid"), "\n") })
	pid, err := strconv.Atoi(strings.TrimSpace(p.read("pid")))
	if err != nil {
		t.Fatal(err)
	}
	sessions := servers(server)
	if len(sessions) == 0 {
		t.Skip("the processes of sshd cannot be found")
	}
	resume := func() {
		for _, id := range sessions {
			_ = syscall.Kill(id, syscall.SIGCONT)
		}
	}
	t.Cleanup(resume)
	for _, id := range sessions {
		_ = syscall.Kill(id, syscall.SIGSTOP)
	}
	if d := gjson.Parse(p.run("pflow-exec", "wait", run, "--format", "json").stdout); d.Get("error.type").Str != "unavailable" || d.Get("error.details.runner").Str != "far" {
		t.Errorf("%s", d.Raw)
	}
	resume()
	p.eventually("the process of the node has ended", func() bool { return syscall.Kill(pid, 0) != nil })
}

// servers returns the processes below the given one that belong to a server for ssh itself.
func servers(pid int) (found []int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	for word := range strings.FieldsSeq(string(b)) {
		id, _ := strconv.Atoi(word)
		if name, _ := os.ReadFile(filepath.Join("/proc", word, "comm")); strings.HasPrefix(string(name), "sshd") {
			found = append(append(found, id), servers(id)...)
		}
	}
	return found
}
