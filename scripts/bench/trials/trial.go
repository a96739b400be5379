package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience is the maximum time of a program that is not killed, enough the maximum until a program has ended what killed ones left.
const patience, enough = time.Minute, 10 * time.Second

// trial is one trial, in a folder of its own.
type trial struct {
	workflow
	seed uint64
	rng  *rand.Rand
	// dir has the home, the file of marks and the outputs. file is the workflow, farEnd the other end of a runner. strayName begins an argument of what nodes leave.
	dir, home, marked, programs, file, farEnd, strayName string
	// env has the variables of the programs, and of what they start. wrap is a command that starts the programs.
	env                  map[string]string
	wrap, secrets, wrong []string
	// checkpoint is the file with which runs go on, or "". unsure is the first of a chain of runs in which something may run again that has finished.
	checkpoint, unsure string
	calls              []*call
	count              map[string]int
}

func newTrial(dir, programs, kind string, seed uint64) *trial {
	t := &trial{programs: programs, seed: seed, rng: rand.New(rand.NewPCG(seed, seed)), count: map[string]int{}}
	t.dir = filepath.Join(dir, fmt.Sprintf("%s-%d", strings.NewReplacer(": ", "-", " ", "-").Replace(kind), seed))
	t.home, t.marked, t.farEnd = filepath.Join(t.dir, "home"), filepath.Join(t.dir, "marks"), filepath.Join(t.dir, "far-end")
	t.strayName = fmt.Sprintf("stray-of-%s-%s-", filepath.Base(dir), filepath.Base(t.dir))
	setsid, _ := exec.LookPath("setsid") // not every system has it
	t.env = map[string]string{
		"PATH": programs + ":" + os.Getenv("PATH"), "HOME": t.dir, "PFLOW_HOME": t.home, "LC_ALL": "C",
		"MARKS": t.marked, "NEVER": filepath.Join(t.dir, "never"), "STRAY": t.strayName, "SETSID": setsid,
	}
	t.put("marks", "")
	t.put("home/settings.json", "{}")
	must(unix.Mkfifo(t.env["NEVER"], 0o600))
	return t
}

func must(err error) {
	if err != nil {
		panic(err) // it ends the trial
	}
}

func got[T any](v T, err error) T {
	must(err)
	return v
}

func (t *trial) put(name, content string) {
	path := filepath.Join(t.dir, name)
	must(os.MkdirAll(filepath.Dir(path), 0o700))
	must(os.WriteFile(path, []byte(content), 0o700)) //nolint:gosec // some are programs
}

// read returns the content of a file, or "".
func read(file string) string {
	b, _ := os.ReadFile(file)
	return string(b)
}

func command(line ...string) error { return exec.Command(line[0], line[1:]...).Run() }

// soon returns a random time of at most so many milliseconds.
func (t *trial) soon(most int) time.Duration { return time.Duration(1 + t.rng.IntN(most*1_000_000)) }

// check records a problem unless something holds, and counts it in a column of the table unless that is "".
func (t *trial) check(holds bool, column, format string, args ...any) {
	if !holds {
		t.count[column]++
		t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
	}
}

// runs returns the ids of the runs in all homes, the oldest first.
func (t *trial) runs() (ids []string) {
	for _, folder := range got(filepath.Glob(filepath.Join(t.dir, "*", "runs", "r*"))) {
		ids = append(ids, filepath.Base(folder))
	}
	slices.Sort(ids)
	return ids
}

// call is a started program, and how it ended. stdout and stderr are files, and before has the runs that existed before.
type call struct {
	line, before   []string
	stdout, stderr string
	process        *os.Process
	began          time.Time
	ended          chan struct{}
	exit           int
	// killed is true if it was killed or asked to end, struck if something that it needs was, and detached if it follows a detached run.
	killed, struck, detached bool
}

// String describes the call and how it ended.
func (c *call) String() string {
	said := strings.TrimSpace(read(c.stderr) + c.last().raw)
	return fmt.Sprintf("%s: killed %t, exit status %d: %s", strings.Join(c.line, " "), c.killed, c.exit, said[:min(len(said), 600)])
}

// done reports whether the call ended by itself and succeeded.
func (c *call) done() bool { return !c.killed && c.exit == 0 }

// beaten reports whether the call failed because another program has resumed the same run.
func (c *call) beaten() bool { return c.exit == 1 && c.last().Error.Type == "conflict" }

// last returns the last line that the call printed.
func (c *call) last() (last event) {
	text := strings.TrimRight(read(c.stdout), "\n")
	last.raw = text[strings.LastIndexByte(text, '\n')+1:]
	_ = json.Unmarshal([]byte(last.raw), &last)
	return last
}

// endsWithin reports whether the call has ended, or does in some time.
func (c *call) endsWithin(some time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(some):
		return false
	}
}

// start starts a program. stdin is a file, or "".
func (t *trial) start(stdin string, line ...string) *call {
	c := &call{line: line, began: time.Now(), ended: make(chan struct{}), before: t.runs()}
	c.stdout, c.stderr = filepath.Join(t.dir, fmt.Sprintf("%d.out", len(t.calls))), filepath.Join(t.dir, fmt.Sprintf("%d.err", len(t.calls)))
	stdout, stderr, in := got(os.Create(c.stdout)), got(os.Create(c.stderr)), got(os.Open(cmp.Or(stdin, os.DevNull)))
	whole := slices.Concat(t.wrap, []string{filepath.Join(t.programs, line[0])}, line[1:])
	cmd := exec.Command(whole[0], whole[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = t.dir, in, stdout, stderr, time.Second
	if t.wrap != nil { // to a pipe no limit on file sizes applies
		cmd.Stdout = struct{ io.Writer }{stdout}
	}
	for name, value := range t.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	must(cmd.Start())
	must(in.Close())
	t.calls, c.process = append(t.calls, c), cmd.Process
	go func() {
		_ = cmd.Wait()
		_, _ = stdout.Close(), stderr.Close()
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		c.exit = cmd.ProcessState.ExitCode()
		// SIGTERM ends a program at once if it has only just begun. Later the program ends in order, with its own status.
		c.killed = status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGTERM) || c.exit == 128+int(syscall.SIGTERM)
		close(c.ended)
	}()
	return c
}

func (t *trial) wait(c *call) *call {
	t.check(c.endsWithin(patience), "stuck", "it does not end: %s", strings.Join(c.line, " "))
	_ = c.process.Kill()
	<-c.ended
	return c
}

// call starts a program and waits for its end, which must be a success.
func (t *trial) call(line ...string) *call {
	c := t.wait(t.start("", line...))
	t.check(c.done(), "", "%s", c)
	return c
}

// await waits for a random moment: soon, when there is a run, at its very end, or after some of the marks. It reports whether the call went on until then.
func (t *trial) await(c *call) bool {
	marks := func() int { return strings.Count(read(t.marked), "\n") }
	begun, all := marks(), 1
	for _, n := range t.marks {
		all += n
	}
	all = max(all, begun+1)
	i := min(t.rng.IntN(8), 4)
	atLeast, after := []int{0, 0, 0, all, begun + 1 + t.rng.IntN(all-begun)}[i], t.soon([]int{8, 600, 4, 10, 2}[i])
	for i == 2 && len(t.runs()) == len(c.before) || marks() < atLeast {
		if c.endsWithin(100 * time.Microsecond) {
			return false
		}
	}
	return !c.endsWithin(after)
}

// blow kills what executes a call's run at a random moment, or asks it to end first.
func (t *trial) blow(c *call) {
	if asked := t.rng.IntN(8) == 0; !t.await(c) {
		return
	} else if c.detached {
		c.struck = t.killOne("\x00detached\x00")
	} else if asked && c.process.Signal(syscall.SIGTERM) == nil {
		time.Sleep(t.soon(10))
	}
	if !c.detached && c.process.Kill() == nil {
		t.count["kills"]++
	}
}

// processes returns the command lines of the processes that are, none without /proc. Each word, and each variable, is between two NULs.
func processes(are func(line, env string) bool) map[int]string {
	found := map[int]string{}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		if line := "\x00" + read(folder+"/cmdline"); are(line, "\x00"+read(folder+"/environ")) {
			pid, _ := strconv.Atoi(filepath.Base(folder))
			found[pid] = line
		}
	}
	return found
}

// ours reports whether a process has a home of the trial, is a stray of the trial or the far end of its runner.
func (t *trial) ours(line, env string) bool {
	return strings.Contains(env, "\x00PFLOW_HOME="+t.dir+"/") || strings.Contains(line, "\x00"+t.strayName) || strings.HasPrefix(line, "\x00"+t.farEnd+"\x00")
}

// killOne kills one of the processes of this trial whose command line has a text. It reports whether there was one.
func (t *trial) killOne(text string) bool {
	for pid := range processes(func(line, env string) bool { return t.ours(line, env) && strings.Contains(line, text) }) { // in a random order
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			t.count["kills"]++
			return true
		}
	}
	return false
}

// gone waits until there are no such processes, which must be before a time.
func (t *trial) gone(before time.Time, are func(line, env string) bool) {
	found := processes(are)
	for ; len(found) > 0 && time.Now().Before(before); found = processes(are) {
		time.Sleep(10 * time.Millisecond)
	}
	t.check(len(found) == 0, "left", "processes are left: %v", found)
}
