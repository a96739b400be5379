package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is the maximum time of a program that is not killed.
const patience = time.Minute

// call is a started program, and how it ended.
type call struct {
	program string
	args    []string
	// stdout and stderr are files. run is the run that the call created, or "".
	stdout, stderr, run string
	// killed is true if it was killed or asked to end.
	killed bool
	// late is true if the runner of a detached run was killed when the run had ended.
	late bool
	exit int
	// rival is true if the next call ran at the same time. supervised is true if a loop of the shell made it, and made it again
	// whenever it was killed: standard output has the streams of all.
	rival, supervised bool

	cmd    *exec.Cmd
	began  time.Time
	ended  chan struct{}
	before []string // the runs that existed before
}

func (c *call) String() string {
	line := c.program + " " + strings.Join(c.args, " ")
	if c.rival {
		line += " (while the next one runs)"
	}
	if c.supervised {
		line += " (in a loop)"
	}
	return line
}

// done reports whether the call ended by itself and succeeded.
func (c *call) done() bool { return !c.killed && c.exit == 0 }

// beaten reports whether the call failed because another program has resumed the same run.
func (c *call) beaten() bool {
	last := c.last()
	return c.exit == 1 && last.Error != nil && last.Error.Type == "conflict"
}

// bereft reports whether the call failed because the runner of the run that it followed was killed.
func (c *call) bereft() bool { return c.exit == 1 && c.last().Status == "interrupted" }

// last returns the last line that the call printed.
func (c *call) last() (last event) {
	text, _ := os.ReadFile(c.stdout)
	_ = json.Unmarshal(text[bytes.LastIndexByte(bytes.TrimSpace(text), '\n')+1:], &last)
	return last
}

// end describes how the call ended.
func (c *call) end() string {
	if c.killed {
		return "killed or interrupted"
	}
	return fmt.Sprintf("exit status %d", c.exit)
}

// moment is the time when a program is killed: the duration after, counted from its start, or with made from the moment when it
// has created a run, or with effects from that number of side effects. If asked is not 0, the program is asked to end that long
// before. At the zero moment it is not killed.
type moment struct {
	made         bool
	effects      int
	after, asked time.Duration
}

// call starts pflow-exec, kills it at the given moment, and waits until it has ended.
func (t *trial) call(kill moment, stdin string, args ...string) (*call, error) {
	runs := len(t.runs())
	c, err := t.start(stdin, args...)
	if err != nil {
		return nil, err
	}
	if t.reached(kill, runs, c.ended) {
		if kill.asked > 0 {
			_ = c.cmd.Process.Signal(syscall.SIGTERM)
			time.Sleep(kill.asked)
		}
		_ = c.cmd.Process.Kill()
	}
	t.wait(c)
	return c, nil
}

// start starts pflow-exec.
func (t *trial) start(stdin string, args ...string) (*call, error) {
	return t.startProgram("pflow-exec", stdin, args...)
}

// startProgram starts a program of the suite.
func (t *trial) startProgram(name, stdin string, args ...string) (*call, error) {
	n := len(t.calls)
	c := &call{program: name, args: args, began: time.Now(), ended: make(chan struct{}), before: t.runs()}
	c.stdout, c.stderr = filepath.Join(t.dir, fmt.Sprintf("out-%d.ndjson", n)), filepath.Join(t.dir, fmt.Sprintf("err-%d.txt", n))
	stdout, err := os.Create(c.stdout)
	if err != nil {
		return nil, err
	}
	stderr, err := os.Create(c.stderr)
	if err != nil {
		return nil, err
	}
	line := append(append(slices.Clone(t.wrap), t.rig.program(name)), args...)
	c.cmd = exec.Command(line[0], line[1:]...)
	c.cmd.Dir = t.dir
	for name, value := range t.env {
		c.cmd.Env = append(c.cmd.Env, name+"="+value)
	}
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.WaitDelay = stdout, stderr, time.Second
	if t.piped {
		c.cmd.Stdout = struct{ io.Writer }{stdout}
	}
	if stdin != "" {
		in, err := os.Open(stdin)
		if err != nil {
			return nil, err
		}
		defer func() { _ = in.Close() }()
		c.cmd.Stdin = in
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	t.calls = append(t.calls, c)
	go func() {
		_ = c.cmd.Wait()
		_, _ = stdout.Close(), stderr.Close()
		close(c.ended)
	}()
	return c, nil
}

// wait waits until a call has ended.
func (t *trial) wait(c *call) {
	select {
	case <-c.ended:
	case <-time.After(patience):
		t.complain("%s does not end", c)
		_ = c.cmd.Process.Kill()
		<-c.ended
	}
	status, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	c.exit = c.cmd.ProcessState.ExitCode()
	// SIGTERM ends a program at once if it has only just begun. Later the program ends in order, with its own status.
	c.killed = status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGTERM) || c.exit == 128+int(syscall.SIGTERM)
	if made := slices.DeleteFunc(t.runs(), func(id string) bool { return slices.Contains(c.before, id) }); len(made) > 0 {
		c.run = made[0]
	}
}

// bring starts or resumes a run, kills its runner at the given moment, and waits until it has ended. It finds the runner of a
// detached run through the run's lock, and waits by following its events.
func (t *trial) bring(kill moment, stdin string, args ...string) (*call, error) {
	if args[0] != "start" {
		return t.call(kill, stdin, args...)
	}
	started, err := t.call(moment{}, stdin, args...)
	if err != nil || started.exit != 0 {
		return started, err
	}
	if started.run == "" { // nothing was left to run of the resumed one
		text, _ := os.ReadFile(started.stdout)
		var answer struct {
			RunID string `json:"run_id"`
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			return started, err
		}
		return t.call(moment{}, "", "events", answer.RunID, "--follow")
	}
	id, runs := started.run, len(started.before)
	ended, passed, shot := make(chan struct{}), make(chan struct{}), false
	go func() {
		defer close(passed)
		if shot = t.reached(kill, runs, ended); shot {
			killHolder(filepath.Join(t.home, "runs", id, "lock"))
		}
	}()
	c, err := t.call(moment{}, "", "events", id, "--follow")
	close(ended)
	if <-passed; err == nil {
		c.run, c.killed, c.began = id, t.journal(id).status() == "interrupted", started.began
		c.late = shot && !c.killed
	}
	return c, err
}

// killHolder kills the process that a lock names, and waits until it has ended.
func killHolder(lock string) {
	b, _ := os.ReadFile(lock)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 1 || syscall.Kill(pid, syscall.SIGKILL) != nil {
		return
	}
	for syscall.Kill(pid, 0) == nil {
		if stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); bytes.Contains(stat, []byte(") Z ")) { // its parent does not wait
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// reached waits for a moment and reports whether it came before the program ended. runs is the number of runs before the
// program was started.
func (t *trial) reached(kill moment, runs int, ended <-chan struct{}) bool {
	if kill == (moment{}) {
		return false
	}
	for kill.made && len(t.runs()) == runs || kill.effects > 0 && t.effectCount() < kill.effects {
		select {
		case <-ended:
			return false
		case <-time.After(100 * time.Microsecond):
		}
	}
	select {
	case <-ended:
		return false
	case <-time.After(kill.after):
		return true
	}
}

// quote returns the beginning of a program's output.
func quote(file string) string {
	b, _ := os.ReadFile(file)
	return strings.TrimSpace(string(b[:min(len(b), 600)]))
}

// living returns the calls that have not ended, and passes the others to ended. It gives up one that takes too long, and changes live.
func (t *trial) living(live []*call, ended func(*call)) []*call {
	return slices.DeleteFunc(live, func(c *call) bool {
		select {
		case <-c.ended:
			ended(c)
			return true
		default:
		}
		if time.Since(c.began) > patience {
			t.complain("%s has not ended", c)
		}
		return time.Since(c.began) > patience
	})
}

// killOneOf kills the process of one of the calls.
func (t *trial) killOneOf(live []*call) {
	c := live[t.rng.IntN(len(live))]
	if c.cmd.Process.Kill() == nil {
		c.killed = true
		t.Kills++
	}
}
