package suite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	locks "sync"
	"syscall"
	"testing"
	"time"
)

// consumer reads the stream of pflow-exec watch and keeps what it needs to go on.
type consumer struct {
	*place
	mu locks.Mutex
	// lines are the lines of each run by their seq, in the order in which they came first. ended are the runs that have ended.
	lines map[string][]string
	ended map[string]string
	// cmd is the process whose stream is read, begun are the runs in that stream with the last seq of each.
	cmd   *exec.Cmd
	begun map[string]int
	read  chan struct{}
}

func (p *place) consume(args ...string) *consumer {
	p.Helper()
	w := &consumer{place: p, lines: map[string][]string{}, ended: map[string]string{}}
	w.start(args...)
	return w
}

// start starts a stream.
func (c *consumer) start(args ...string) {
	c.Helper()
	c.cmd = withTest(exec.Command(filepath.Join(bin, "pflow-exec"), append([]string{"watch"}, args...)...)) // for as long as it takes
	c.cmd.Dir, c.cmd.Env = c.dir, c.env
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		c.Fatal(err)
	}
	var stderr bytes.Buffer
	c.cmd.Stderr = &stderr
	if err := c.cmd.Start(); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = c.cmd.Process.Kill() })
	c.begun, c.read = map[string]int{}, make(chan struct{})
	go func() {
		defer close(c.read)
		in := bufio.NewReaderSize(out, 1<<20)
		for {
			line, err := in.ReadString('\n')
			if err != nil { // a torn last line counts as nothing
				return
			}
			c.take(line)
		}
	}()
}

// take adds a line.
func (c *consumer) take(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var e struct {
		Run, Event string
		Seq        int
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.Run == "" {
		c.Errorf("%v: %q", err, line)
		return
	}
	if e.Event == "run_interrupted" {
		c.ended[e.Run] = e.Event
		return
	}
	if e.Seq != c.begun[e.Run]+1 {
		c.Errorf("event %d of run %s comes after %d", e.Seq, e.Run, c.begun[e.Run])
	}
	c.begun[e.Run] = e.Seq
	if have := c.lines[e.Run]; e.Seq <= len(have) {
		if have[e.Seq-1] != line {
			c.Errorf("event %d of run %s was\n%s, now it is\n%s", e.Seq, e.Run, have[e.Seq-1], line)
		}
		return
	} else if e.Seq > len(have)+1 {
		c.Errorf("of run %s %d events are known, then comes %d", e.Run, len(have), e.Seq)
	}
	c.lines[e.Run] = append(c.lines[e.Run], line)
	if e.Event == "run_finished" {
		c.ended[e.Run] = e.Event
	}
}

// stop ends the stream with a signal and returns the exit status.
func (c *consumer) stop(signal syscall.Signal) int {
	c.Helper()
	_ = c.cmd.Process.Signal(signal)
	<-c.read
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

// since returns the newest run up to which all runs have ended.
func (c *consumer) since() string {
	since := "r0"
	for _, id := range slices.Sorted(func(yield func(string) bool) {
		for id := range c.lines {
			if !yield(id) {
				return
			}
		}
	}) {
		if c.ended[id] == "" {
			break
		}
		since = id
	}
	return since
}

// begins waits until a run has begun in the stream.
func (c *consumer) begins(id string) {
	c.Helper()
	c.eventually("run "+id+" begins in the stream", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.lines[id]) > 0
	})
}

// has waits until a run has ended in the stream.
func (c *consumer) has(id string) {
	c.Helper()
	c.eventually("run "+id+" has ended in the stream", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.ended[id] != ""
	})
}

// isComplete fails unless the stream had each line of each journal, and said of each run how it ended.
func (c *consumer) isComplete() {
	c.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	paths := c.journals()
	for _, path := range paths {
		id := filepath.Base(filepath.Dir(path))
		b, err := os.ReadFile(path)
		if err != nil {
			c.Fatal(err)
		}
		whole := string(b[:bytes.LastIndexByte(b, '\n')+1])
		if got := strings.Join(c.lines[id], ""); got != whole {
			c.Errorf("of run %s the stream has\n%s\nand the journal\n%s", id, got, whole)
		}
		want := "run_interrupted"
		if strings.Contains(whole, `"event":"run_finished"`) {
			want = "run_finished"
		}
		if c.ended[id] != want {
			c.Errorf("run %s ended with %s, not with %q", id, want, c.ended[id])
		}
	}
	if len(paths) != len(c.lines) {
		c.Errorf("the stream has %d runs, the home %d", len(c.lines), len(paths))
	}
}

// Beside many runs, some of which are killed, a stream has every event once. A stream that is killed again and again, and goes on
// after the runs that have ended in it, loses nothing.
func TestAWatchBesideManyRuns(t *testing.T) {
	t.Parallel()
	size := 500
	if testing.Short() {
		size = 60
	}
	p := newPlace(t)
	p.write("short.json", `{"nodes":[{"id":"a","type":"echo","params":{"message":"hi"}},{"id":"b","type":"echo","params":{"data":"${a.echo}"}}]}`)
	p.write("killed.json", chain("kill -9 $(cat home/runs/$PFLOW_RUN_ID/lock); while :; do :; done"))
	p.write("first.json", chain("read x < gate"))
	g := p.gate("gate")
	first, _ := p.document(p.must("pflow-exec", "start", "first.json"))["run_id"].(string)
	whole, torn := p.consume(), p.consume("--since", "r0")
	whole.begins(first)
	g.reached()()
	over := make(chan struct{})
	go func() {
		defer close(over)
		var workers locks.WaitGroup
		next := make(chan string)
		for range 4 {
			workers.Go(func() {
				for file := range next {
					p.run("pflow-exec", "run", file, "--quiet")
				}
			})
		}
		for i := range size {
			file := "short.json"
			if i%10 == 9 {
				file = "killed.json"
			}
			next <- file
		}
		close(next)
		workers.Wait()
	}()
	kills := 0
	for running := true; running; {
		select {
		case <-over:
			running = false
		case <-time.After(time.Duration(rand.IntN(700)) * time.Millisecond): // a moment like any other
			torn.stop(syscall.SIGKILL)
			torn.start("--since", torn.since())
			kills++
		}
	}
	for _, path := range p.journals() {
		whole.has(filepath.Base(filepath.Dir(path)))
		torn.has(filepath.Base(filepath.Dir(path)))
	}
	whole.stop(syscall.SIGKILL)
	torn.stop(syscall.SIGKILL)
	whole.isComplete()
	torn.isComplete()
	t.Logf("%d runs, %d kills of the stream", len(p.journals()), kills)
}

// A run whose process is killed is reported, and the run that goes on from it is another one.
func TestAWatchAndAResume(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	w := p.consume()
	id, _ := p.document(p.must("pflow-exec", "start", "w.json"))["run_id"].(string)
	g.reached()
	w.begins(id)
	pid, err := strconv.Atoi(strings.TrimSpace(p.read("home/runs/" + id + "/lock")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.has(id)
	next, _ := p.document(p.must("pflow-exec", "start", "w.json", "--resume", id))["run_id"].(string)
	g.reached()()
	w.has(next)
	if exit := w.stop(syscall.SIGTERM); exit != 143 {
		t.Errorf("exit status %d", exit)
	}
	w.isComplete()
}

// An idle stream ends when its reader goes away, and when a signal comes.
func TestTheEndOfAWatch(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"closed": 0, "interrupted": syscall.SIGINT, "terminated": syscall.SIGTERM, "hung up": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			cmd := p.command("pflow-exec", "watch", "--since", "r0")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			p.draft("good", chain("echo hello"))
			p.must("pflow-exec", "run", "good")
			lines := bufio.NewReader(out)
			for range 4 { // it is at work
				if _, err := lines.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			want := 128 + int(signal)
			if signal == 0 {
				want = 141
				_ = out.Close()
			} else {
				_ = cmd.Process.Signal(signal)
				_, _ = io.Copy(io.Discard, lines)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != want || stderr.Len() > 0 {
				t.Errorf("exit status %d, not %d: %s", got, want, stderr.String())
			}
		})
	}
}

// While the stream is not read, runs are as fast as always, and nothing is lost.
func TestASlowReaderOfAWatch(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("loop.json", `{"nodes":[{"id":"step","type":"echo","loop":{"while":true,"max_iterations":500},"params":{"data":"`+strings.Repeat("x", 2000)+`"}}]}`)
	w := p.consume("--since", "r0")
	w.mu.Lock() // the reader is stuck with its first line
	var ids []string
	for range 3 {
		id, _ := p.last(p.must("pflow-exec", "run", "loop.json", "--quiet"))["run"].(string)
		ids = append(ids, id)
	}
	w.mu.Unlock()
	for _, id := range ids {
		w.has(id)
	}
	w.stop(syscall.SIGKILL)
	w.isComplete()
}
