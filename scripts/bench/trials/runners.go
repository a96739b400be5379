package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// farRuns are the runs of a trial of runners, farResumes the most resumes of one of them.
const (
	farRuns    = 20
	farResumes = 5
)

// runners begins runs whose nodes are executed by a runner, and kills one process of each at a random moment: the one that executes
// the run, the runner, pflow-exec node, or the process of a node. Each run must go on to its end when it is resumed, every node must
// end once, and nothing may be left. The secret that the nodes get must be in no command line, no output and no file of the home.
func (t *trial) runners() error {
	t.file = filepath.Join(t.dir, "workflow.json")
	far, other := filepath.Join(t.dir, "far.sh"), filepath.Join(t.dir, "other-end")
	node := func(id string) string {
		return `{"id":"` + id + `","type":"shell","params":{"command":"test -n \"${api_key}\" && test -n \"$TOKEN\" && sleep 0.02","env":{"TOKEN":"${api_key}"}}}`
	}
	secret := randomSecrets(t.rng, false)[0]
	t.env["api_key"] = secret
	if err := errors.Join(
		os.Symlink(t.rig.program("pflow-exec"), other),
		os.WriteFile(far, []byte("#!/bin/sh\nenv -i "+other+" node\n"), 0o700),
		os.WriteFile(filepath.Join(t.home, "settings.json"), []byte(`{"runners":{"far":`+strconv.Quote(far)+`}}`), 0o600),
		os.WriteFile(t.file, []byte(`{"runs_on":"far","inputs":{"api_key":{"type":"string","secret":true}},"nodes":[`+node("a")+","+node("b")+","+node("c")+`],
			"edges":[{"from":"a","to":"b"},{"from":"b","to":"c"}]}`), 0o600),
	); err != nil {
		return err
	}
	for range farRuns {
		before := len(t.runs())
		c, err := t.start("", "run", t.file, "--quiet")
		if err != nil {
			return err
		}
		time.Sleep(t.soon(150 * time.Millisecond))
		t.searchCommandLines(secret)
		if pids := t.farProcesses(other); len(pids) > 0 && syscall.Kill(pids[t.rng.IntN(len(pids))], syscall.SIGKILL) == nil {
			t.Kills++
		}
		c.killed = true // whatever was killed
		t.wait(c)
		if len(t.runs()) == before {
			continue // it was killed before the run began
		}
		if err := t.resumeFar(); err != nil {
			return err
		}
		t.checkFar(t.runs()[before:])
		for deadline := time.Now().Add(enough); len(t.farProcesses(other)) > 0; time.Sleep(lockTime / 100) {
			if time.Now().After(deadline) {
				t.Left++
				t.complain("processes are left: %v", t.farProcesses(other))
				break
			}
		}
	}
	if t.Kills == 0 {
		t.complain("nothing was killed in %d runs", farRuns)
	}
	t.verifyNoSecret([]string{secret})
	return nil
}

// searchCommandLines searches the command lines of all processes for a secret.
func (t *trial) searchCommandLines(secret string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if command, err := os.ReadFile(file); err == nil && strings.Contains(string(command), secret) {
			t.Found++
			t.complain("a secret is in a command line: %s", command)
		}
	}
}

// resumeFar resumes the last run until it has succeeded.
func (t *trial) resumeFar() error {
	for range farResumes {
		c, err := t.start("", "resume", "last", "--quiet")
		if err != nil {
			return err
		}
		t.Resumes++
		if t.wait(c); c.exit == 0 {
			return nil
		}
	}
	t.Stuck++
	t.complain("the last run cannot be resumed")
	return nil
}

// checkFar checks that each node has ended once in the runs, which resume each other.
func (t *trial) checkFar(runs []string) {
	ended := map[string]int{}
	for _, id := range runs {
		for _, e := range t.journal(id).events {
			if key, ok := e.completes(); ok {
				ended[key]++
			}
		}
	}
	if want := map[string]int{"a": 1, "b": 1, "c": 1}; !maps.Equal(ended, want) {
		raw, _ := json.Marshal(ended)
		t.complain("in %s the nodes have ended %s times", strings.Join(runs, ", "), raw)
	}
}

// farProcesses returns the processes with this home in their environment, and those of the other end of the runner.
func (t *trial) farProcesses(other string) (pids []int) {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(folder, "environ"))
		if strings.HasPrefix(string(command), other+"\x00") || slices.Contains(strings.Split(string(env), "\x00"), "PFLOW_HOME="+t.home) {
			var pid int
			if _, err := fmt.Sscanf(filepath.Base(folder), "%d", &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
