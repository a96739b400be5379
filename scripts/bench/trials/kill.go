package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mostKills is the maximum number of kills in one trial.
const mostKills = 5

// prepare writes the workflow of the kill trials, and what it needs.
func (t *trial) prepare() error {
	t.workflow = *branching(t.rng)
	t.file = filepath.Join(t.dir, "workflow.json")
	return errors.Join(os.WriteFile(t.file, t.json(), 0o600), t.serveMCP(object{}), t.putProgram("claude", agentProgram))
}

// kill runs a workflow, kills its runner at a random moment, and resumes the run until it has ended.
func (t *trial) kill() error {
	if err := t.prepare(); err != nil {
		return err
	}
	begin := "run"
	if t.rng.IntN(5) == 0 {
		begin = "start"
	}
	c, err := t.bring(t.moment(), "", t.flags(begin, t.file)...)
	for ; err == nil && (c.killed || c.beaten()); c, err = t.next() {
		if c.killed {
			t.Kills++
			t.verifyKilled(c)
		}
		if c.killed && t.rng.IntN(3) == 0 {
			if err := t.sweep(); err != nil {
				return err
			}
		}
	}
	if err == nil && c.late {
		err = t.sweep()
	}
	if err != nil {
		return err
	}
	if c.exit != 0 {
		t.Stuck++
		t.complain("%s: exit status %d: %s", c, c.exit, quote(c.stderr))
	}
	if !c.late {
		t.verifyCleaned(c)
	}
	t.verify(c)
	return nil
}

// next resumes the run in a random way. In two of three cases the runner is killed again.
func (t *trial) next() (*call, error) {
	stdin, args := t.goOn()
	var at moment
	if t.Kills < mostKills && t.rng.IntN(3) > 0 {
		at = t.moment()
	}
	goesOn := args[0] == "resume" || args[0] == "run" && slices.Contains(args, "--resume")
	if goesOn && t.rng.IntN(6) == 0 {
		return t.race(at, stdin, args...)
	}
	return t.bring(at, stdin, args...)
}

// sweep starts a program that does not resume the run, and checks that it ends what killed runners have left.
func (t *trial) sweep() error {
	program, args := "pflow-exec", []string{"gc"}
	if t.rng.IntN(2) == 0 {
		program, args = "pflow-sync", []string{"sync", "trial"}
	}
	c, err := t.startProgram(program, "", args...)
	if err != nil {
		return err
	}
	t.wait(c)
	if c.exit != 0 {
		t.complain("%s: exit status %d: %s", c, c.exit, quote(c.stderr))
	}
	t.verifyCleaned(c)
	return nil
}

// race resumes the run twice at the same time. The later one follows the run of the
// other one, which may be killed, or fails with a conflict.
func (t *trial) race(at moment, stdin string, args ...string) (*call, error) {
	rival, err := t.start("", "resume", "last")
	if err != nil {
		return nil, err
	}
	rival.rival = true
	c, err := t.call(at, stdin, args...)
	t.wait(rival)
	if rival.exit != 0 && !rival.beaten() && !(rival.bereft() && c != nil && c.killed) {
		t.complain("%s: exit status %d: %s", rival, rival.exit, quote(rival.stderr))
	}
	return c, err
}

// moment returns a random moment to kill the runner: after some of the remaining side effects, or at the very beginning, when it
// reads what was done, at the very end, or while it ends in order.
func (t *trial) moment() moment {
	count := t.effectCount()
	rest := max(1, len(t.effects)+1-count)
	some := count + 1 + t.rng.IntN(rest)
	switch t.rng.IntN(8) {
	case 0:
		return moment{after: t.soon(8 * time.Millisecond)}
	case 1:
		return moment{made: true, after: t.soon(4 * time.Millisecond)}
	case 2:
		return moment{effects: count + rest, after: t.soon(10 * time.Millisecond)}
	case 3:
		return moment{effects: some, asked: t.soon(10 * time.Millisecond)}
	case 4:
		return moment{after: t.soon(600 * time.Millisecond)}
	}
	return moment{effects: some, after: t.soon(2 * time.Millisecond)}
}

// soon returns a random time of at most the given one.
func (t *trial) soon(most time.Duration) time.Duration {
	return 1 + time.Duration(t.rng.Int64N(int64(most)))
}

// verifyKilled checks that a killed run is interrupted, unless it had ended, and that its journal is whole.
func (t *trial) verifyKilled(c *call) {
	if c.run == "" {
		return
	}
	j := t.journal(c.run)
	if j.wrong != "" {
		t.complain("after %s was killed, the journal of %s is not whole: %s", c, c.run, j.wrong)
	}
	if len(j.events) == 0 {
		t.complain("after %s was killed, the journal of %s has no event", c, c.run)
	}
	t.Orphans += len(t.strayProcesses(c.run))
	if t.rng.IntN(3) > 0 { // verifyList checks all runs at the end
		return
	}
	s, err := t.call(moment{}, "", "status", c.run, "--format", "json")
	if err != nil || s.exit != 0 {
		t.complain("status %s: %v %s", c.run, err, quote(s.stderr))
		return
	}
	if text, _ := os.ReadFile(s.stdout); !strings.Contains(string(text), `"status":"`+j.status()+`"`) {
		t.complain("after %s was killed, the status of %s is not %s: %s", c, c.run, j.status(), text)
	}
}
