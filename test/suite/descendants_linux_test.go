package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/brief"
)

// soon is far less than the descendants sleep, and enough for a busy machine.
const soon = patience

// descendant is a way in which a process survives its parent. SLEEP stands for a sleep that its argument identifies.
type descendant struct {
	name, command string
	// anonymous is set for a process without the run's environment, which is found only while the runner lives.
	anonymous bool
}

const (
	stubborn = `sh -c 'trap "" TERM; SLEEP; true' >/dev/null 2>&1`
	// often is how often a loop forks if it is not stopped.
	often = "200"
)

var descendants = []descendant{
	{name: "ignores SIGTERM", command: `trap "" TERM; SLEEP & while :; do wait; done`},
	{name: "in a session of its own", command: `setsid SLEEP & wait`},
	{name: "in a session of its own, ignoring SIGTERM, its parent gone", command: `(setsid ` + stubborn + ` &); SLEEP`},
	{name: "forking in a loop", command: `i=0; while [ $i -lt ` + often + ` ]; do i=$((i+1)); (setsid SLEEP >/dev/null 2>&1 &); done; SLEEP`},
	{
		name:    "forking in a loop, all ignoring SIGTERM",
		command: `trap "" TERM; i=0; while [ $i -lt ` + often + ` ]; do i=$((i+1)); (setsid SLEEP >/dev/null 2>&1 &); sleep 0.1; done`,
	},
	{name: "without environment", command: `env -i setsid SLEEP & wait`, anonymous: true},
	{name: "without environment, ignoring SIGTERM, its parent gone", command: `(env -i setsid ` + stubborn + ` &); SLEEP`, anonymous: true},
	{
		name:      "forking in a loop without environment",
		command:   `env -i setsid sh -c 'i=0; while [ $i -lt ` + often + ` ]; do i=$((i+1)); (setsid SLEEP >/dev/null 2>&1 &); sleep 0.1; done' & wait`,
		anonymous: true,
	},
}

// brood is a run with a node for each way, each with its descendants.
type brood struct {
	*place
	cmd   *exec.Cmd
	ended chan time.Time
	// seconds are the arguments that identify the sleeps of each node.
	seconds map[string]string
}

// breed writes the workflow. Its nodes end at once if the file "again" exists.
func breed(p *place, number int, anonymous bool, settings string) *brood {
	p.Helper()
	b := &brood{place: p, ended: make(chan time.Time, 1), seconds: map[string]string{}}
	var nodes []string
	for i, d := range descendants {
		if d.anonymous && !anonymous {
			continue
		}
		b.seconds[d.name] = fmt.Sprintf("98765.%d%d%d", os.Getpid(), number, i)
		command := "test -e again && exit 0; " + strings.ReplaceAll(d.command, "SLEEP", "sleep "+b.seconds[d.name])
		params, err := json.Marshal(command)
		if err != nil {
			p.Fatal(err)
		}
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"shell","params":{"command":%s%s}}`, i, params, settings))
	}
	p.write("w.json", `{"nodes":[`+strings.Join(nodes, ",")+`]}`)
	p.Cleanup(func() { // of a test that failed
		for pids := b.left(); len(pids) > 0; pids = b.left() {
			for _, pid := range pids {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	return b
}

// left returns the existing sleeps, whatever their environment.
func (b *brood) left() (pids []int) {
	for _, list := range b.sleeps() {
		pids = append(pids, list...)
	}
	return pids
}

// sleeps returns the processes that have a node's seconds among their arguments, by the node's name.
func (b *brood) sleeps() map[string][]int {
	found := map[string][]int{}
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range commands {
		command, _ := os.ReadFile(path)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		for name, seconds := range b.seconds {
			if bytes.Contains(command, []byte(seconds)) {
				found[name] = append(found[name], pid)
			}
		}
	}
	return found
}

// start starts the run and waits until all its nodes have descendants.
func (b *brood) start(args ...string) {
	b.Helper()
	b.begin(args...)
	b.eventually("all nodes have descendants", b.grown)
}

// begin starts the run.
func (b *brood) begin(args ...string) {
	b.Helper()
	b.cmd = b.command("pflow-exec", args...)
	if err := b.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	go func() {
		_ = b.cmd.Wait()
		b.ended <- time.Now()
	}()
}

// grown reports whether all nodes of the run have descendants, and nodes that loop have several.
func (b *brood) grown() bool {
	sleeps := b.sleeps()
	for name := range b.seconds {
		if n := len(sleeps[name]); n == 0 || n <= 2 && strings.Contains(name, "loop") {
			return false
		}
	}
	return true
}

// timed checks that no process is left of runs that end at a time limit. begin starts them. The limit is short, and grows until all nodes
// of a run have descendants before it.
func timed(t *testing.T, what string, begin func(limit time.Duration) *brood) {
	t.Helper()
	for limit := 8 * time.Second; limit < patience; limit *= 2 {
		began := time.Now()
		b := begin(limit)
		grown := false
		for lives := true; lives; {
			select {
			case ended := <-b.ended:
				b.gone(what, ended.Sub(began)-limit)
				lives = false
			case <-time.After(50 * time.Millisecond):
				grown = grown || b.grown()
			}
		}
		if grown {
			return
		}
	}
	t.Errorf("%s: the nodes never had all descendants", what)
}

// gone checks that no process of the run is left.
func (b *brood) gone(what string, took time.Duration) {
	b.Helper()
	b.Logf("%s: all was gone after %s", what, took.Round(time.Millisecond))
	for name, pids := range b.sleeps() {
		b.Errorf("%s: %d that are %s are left: %v", what, len(pids), name, pids)
	}
	if left := processes("PFLOW_HOME=" + b.home); len(left) > 0 {
		b.Errorf("%s: processes are left: %v", what, left)
	}
	if took > soon {
		b.Errorf("%s: it took %s", what, took)
	}
}

// No descendant of a run is left when the command that ended the run returns, however it was ended.
func TestEveryDescendantEnds(t *testing.T) {
	t.Parallel()
	needs(t, "setsid", "env")
	t.Run("a signal", func(t *testing.T) {
		for i, sig := range brief.Part([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, 2) {
			t.Run(sig.String(), func(t *testing.T) {
				t.Parallel()
				b := breed(newPlace(t), i, true, "")
				b.start("run", "w.json", "--jobs", "99")
				began := time.Now()
				_ = b.cmd.Process.Signal(sig)
				b.gone(sig.String(), (<-b.ended).Sub(began))
			})
		}
	})
	t.Run("cancel", func(t *testing.T) {
		t.Parallel()
		b := breed(newPlace(t), 2, true, "")
		b.start("start", "w.json", "--jobs", "99")
		began := time.Now()
		if a := b.document(b.must("pflow-exec", "cancel", "last")); a["status"] != "cancelled" {
			t.Errorf("%v", a)
		}
		b.gone("cancel", time.Since(began))
		b.write("again", "")
		if last := b.last(b.must("pflow-exec", "resume", "last")); last["status"] != "completed" { // at once
			t.Errorf("resumed, it ends with %v", last)
		}
	})
	t.Run("the run's timeout", func(t *testing.T) {
		brief.Skip(t)
		t.Parallel()
		b := breed(newPlace(t), 3, true, "")
		timed(t, "--timeout", func(limit time.Duration) *brood {
			b.begin("run", "w.json", "--jobs", "99", "--timeout", limit.String())
			return b
		})
	})
	t.Run("the nodes' timeouts", func(t *testing.T) {
		brief.Skip(t)
		t.Parallel()
		p := newPlace(t)
		timed(t, "the nodes' timeouts", func(limit time.Duration) *brood {
			b := breed(p, 4, false, fmt.Sprintf(`,"timeout":%v`, limit.Seconds()))
			b.begin("run", "w.json", "--jobs", "99", "--keep-going")
			return b
		})
	})
	for i, end := range []string{"resume", "cancel"} {
		t.Run("the runner's death, "+end, func(t *testing.T) {
			t.Parallel()
			b := breed(newPlace(t), 5+i, false, "")
			b.start("run", "w.json", "--jobs", "99")
			_ = b.cmd.Process.Kill()
			<-b.ended
			if len(b.left()) == 0 {
				t.Error("nothing outlived the runner")
			}
			b.write("again", "")
			began := time.Now()
			if o := b.run("pflow-exec", end, "last"); o.exit != 0 {
				t.Error(o)
			}
			b.gone(end, time.Since(began))
		})
	}
}

// An inner run receives SIGTERM once and ends in order, with what it has started itself. An inner run that was started as a
// detached run continues.
func TestARunInsideARun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	apart, inner := p.gate("apart"), p.gate("inner")
	p.write("apart.json", chain("read x < apart"))
	p.write("inner.json", chain("trap 'echo heard >> heard.txt; exit 0' TERM; echo > listens.txt; cat inner & wait"))
	p.write("outer.json", chain("pflow-exec start apart.json > apart.txt; (setsid pflow-exec run inner.json > inner.ndjson &) ; cat nothing; cat inner; true"))
	cmd := p.command("pflow-exec", "run", "outer.json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = apart.reached()
	_ = inner.reached()
	p.eventually("the inner run's node heeds a signal", func() bool { return p.exists("listens.txt") })
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if last := p.last(p.read("inner.ndjson")); last["status"] != "cancelled" || p.read("heard.txt") != "heard\n" {
		t.Errorf("the inner run ends with %v, and its node heard %q", last, p.read("heard.txt"))
	}
	id, _ := p.document(p.read("apart.txt"))["run_id"].(string)
	if s := p.document(p.must("pflow-exec", "status", id)); s["status"] != "running" {
		t.Errorf("the run that was started apart: %v", s)
	}
	apart.reached()()
	if a := p.document(p.must("pflow-exec", "wait", id)); a["status"] != "completed" {
		t.Errorf("the run that was started apart ends with %v", a)
	}
}

// Processes that a shell has started before it became the runner do not belong to the run.
func TestWhatWasThereBeforeTheRunStays(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"sleep 60"}}]}`)
	o := p.run("sh", "-c", `sleep 54321 >/dev/null 2>&1 & echo $! > pid; exec pflow-exec run w.json --quiet --timeout 0.2`)
	if o.exit != 124 {
		t.Errorf("exit %d: %s", o.exit, o.stderr)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(p.read("pid")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("it was ended with the run: %v", err)
	}
}
