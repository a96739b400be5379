package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killing has a node that kills its runner three times, between nodes that do not.
const killing = `{"nodes": [
	{"id": "before", "type": "shell", "params": {"command": "echo before >> ran; echo ${x}"}},
	{"id": "long", "type": "shell", "params": {"command": "echo long >> ran; head -c 100000 /dev/zero | tr '\\0' x"}},
	{"id": "kill", "type": "shell", "params": {"command": "echo kill >> ran; test $(grep -c kill ran) -gt 3 || kill -9 $(cat $PFLOW_HOME/runs/$PFLOW_RUN_ID/lock)"}},
	{"id": "after", "type": "shell", "params": {"command": "echo after >> ran; echo ${long.stdout} | wc -c"}}],
	"edges": [{"from": "before", "to": "long"}, {"from": "long", "to": "kill"}, {"from": "kill", "to": "after"}],
	"inputs": {"x": {"type": "string", "default": "1"}},
	"outputs": {"size": {"source": "${after.stdout}"}}}`

// allEvents returns the journals of all runs one after another, the oldest first.
func (p *place) allEvents() string {
	p.Helper()
	all := ""
	for _, path := range p.journals() {
		b, err := os.ReadFile(path)
		if err != nil {
			p.Fatal(err)
		}
		all += string(b)
	}
	return all
}

// finished returns how the last run of a stream ended, and how many of its nodes ran.
func finished(t *testing.T, stream string) (status string, executed int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(stream, "\n"), "\n")
	var last struct {
		Event, Status string
		NodesExecuted int `json:"nodes_executed"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Event != "run_finished" {
		t.Fatalf("%v: %s", err, stream)
	}
	return last.Status, last.NodesExecuted
}

// TestACheckpointFileIsASupervisor: a loop of one command brings a run to its end that is killed on the way.
func TestACheckpointFileIsASupervisor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", killing)
	o := p.run("sh", "-c", `while pflow-exec run w.json --checkpoint run.ndjson > last.ndjson; [ $? -eq 137 ]; do echo killed; done`)
	if o.exit != 0 || o.stdout != "killed\nkilled\nkilled\n" {
		t.Fatal(o)
	}
	file := p.read("run.ndjson")
	if status, _ := finished(t, file); status != "completed" || file != p.allEvents() || !strings.HasSuffix(file, p.read("last.ndjson")) {
		t.Errorf("%s\n%s", status, file)
	}
	if got := p.read("ran"); got != "before\nlong\nkill\nkill\nkill\nkill\nafter\n" {
		t.Errorf("ran: %q", got)
	}
	if info, err := os.Stat(filepath.Join(p.dir, "run.ndjson")); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}

	// A run that has succeeded is reused as a whole. An input that is new runs what reads it, and what follows.
	if o := p.run("pflow-exec", "run", "w.json", "--checkpoint", "run.ndjson"); o.exit != 0 || p.read("run.ndjson") != file+o.stdout {
		t.Error(o)
	} else if status, executed := finished(t, o.stdout); status != "completed" || executed != 0 {
		t.Error(o)
	}
	file = p.read("run.ndjson")
	if o := p.run("pflow-exec", "run", "w.json", "x=2", "--checkpoint", "run.ndjson", "--dry-run"); o.exit != 0 || !strings.Contains(o.stdout, `"would":"run"`) || p.read("run.ndjson") != file {
		t.Error(o)
	}

	// Without the home only the node whose value is long runs again, with those that follow.
	if err := os.RemoveAll(p.home); err != nil {
		t.Fatal(err)
	}
	o = p.run("pflow-exec", "run", "w.json", "--checkpoint", "run.ndjson", "--print", "size")
	if o.exit != 0 || o.stdout != "100001\n" || !strings.HasPrefix(p.read("ran"), "before\nlong\nkill\nkill\nkill\nkill\nafter\nlong\n") {
		t.Errorf("%s\n%q", o, p.read("ran"))
	}
}

// TestACheckpointFileHasWholeEvents: what a kill leaves is mended, and what is no stream of events stays as it is.
func TestACheckpointFileHasWholeEvents(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo a >> ran"}}]}`)
	first := p.run("pflow-exec", "run", "w.json", "--checkpoint", "f").stdout
	if p.read("f") != first {
		t.Fatalf("%q", p.read("f"))
	}
	begun, _, _ := strings.Cut(first, "\n")
	for _, torn := range []string{begun[:50], begun, begun[:5], "\x00\x00\x00", "\n"} {
		for _, whole := range []string{first, ""} {
			p.write("f", whole+torn)
			if o := p.run("pflow-exec", "run", "w.json", "--checkpoint", "f"); o.exit != 0 || p.read("f") != whole+o.stdout {
				t.Errorf("%.20q: %s", torn, o)
			}
		}
	}
	for _, text := range []string{"hello", "hello\n", "{}\n", first + "pflow-exec: error: no\n", first + "hello", "hello\n" + first, strings.SplitAfterN(first, "\n", 2)[1], strings.ReplaceAll(first, `"v":1`, `"v":9`)} {
		p.write("f", text)
		o := p.run("pflow-exec", "run", "w.json", "--checkpoint", "f")
		if o.exit != 2 || !strings.Contains(o.stdout, `"usage_error"`) || p.read("f") != text {
			t.Errorf("%.200q: %s", text, o)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(p.dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := strings.TrimSpace(p.run("pflow-exec", "start", "w.json", "--format", "text").stdout)
	p.run("pflow-exec", "wait", run)
	for _, args := range [][]string{
		{"--checkpoint", "fifo"}, {"--checkpoint", "."}, {"--checkpoint", ""}, {"--checkpoint", "-"}, {"--checkpoint", "absent/f"},
		{"--checkpoint", "new", "--resume", "last"}, {"--checkpoint", "new", "--approve", "yes"}, {"--checkpoint", "new", "x=1"},
		{"--checkpoint", "home/runs/" + run + "/journal.ndjson"},
	} {
		if o := p.run("pflow-exec", append([]string{"run", "w.json"}, args...)...); o.exit != 2 || !strings.Contains(o.stdout, "run_refused") {
			t.Errorf("%q: %s", args, o)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "new")); err == nil {
		t.Error("a run that was refused has left a file")
	}
}

// TestACheckpointFileHasOneWriter: while a run goes on, another command with its file is a conflict.
func TestACheckpointFileHasOneWriter(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "cat gate"}}]}`)
	gate := filepath.Join(p.dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("pflow-exec", "run", "w.json", "--checkpoint", "f")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); !strings.Contains(p.read("f"), "node_started") && time.Now().Before(deadline); {
		continue
	}
	before := p.read("f")
	if o := p.run("pflow-exec", "run", "w.json", "--checkpoint", "f"); o.exit != 1 || !strings.Contains(o.stdout, `"conflict"`) || p.read("f") != before {
		t.Error(o)
	}
	if err := os.WriteFile(gate, []byte("go"), 0); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if status, _ := finished(t, p.read("f")); status != "completed" {
		t.Error(p.read("f"))
	}
}

// TestACheckpointFileThatIsFull: the run goes on, says which file has not all of it, and the next one goes on from it.
func TestACheckpointFileThatIsFull(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo a >> ran"}}]}`)
	p.write("f", strings.Repeat(p.run("pflow-exec", "run", "w.json").stdout, 50))
	full := p.read("f")
	o := p.run("sh", "-c", "ulimit -f 16; exec pflow-exec run w.json --checkpoint f --format json") // blocks of 512 or 1024 bytes
	if o.exit != 1 || !strings.Contains(o.stdout, `"internal_error"`) || !strings.Contains(o.stdout, filepath.Join(p.dir, "f")) || p.read("f") != full {
		t.Error(o)
	}
	if status, executed := finished(t, p.journal()); status != "completed" || executed != 0 {
		t.Error(p.journal())
	}
	if o := p.run("pflow-exec", "run", "w.json", "--checkpoint", "f"); o.exit != 0 || p.read("f") != full+o.stdout || p.read("ran") != "a\n" {
		t.Error(o)
	}
}
