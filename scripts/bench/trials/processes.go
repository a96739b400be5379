package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// verifyNothingRuns checks that no process with this home is left.
func (t *trial) verifyNothingRuns() {
	var found []string
	for range 100 { // a killed process needs some time to end, and so does a detached one after its last event
		if found = t.processes(); len(found) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, p := range found {
		t.complain("still running: %s", p)
	}
}

// processes returns the command lines of all processes with this home in their environment, and of the strays of this trial. It
// returns nil without /proc.
func (t *trial) processes() []string { return t.find("PFLOW_HOME="+t.home, t.strayName) }

// ofRun returns the command lines of all processes with a run in their environment, and of its strays.
func (t *trial) ofRun(id string) []string { return t.find("PFLOW_RUN_ID="+id, t.strayName+id) }

// strayProcesses returns the command lines of the strays of a run.
func (t *trial) strayProcesses(id string) []string { return t.find("", t.strayName+id) }

// find returns the command lines of all processes that have a variable, NAME=VALUE, in their environment, or an argument with a
// beginning. Processes of other trials in the same folder have neither.
func (t *trial) find(variable, argument string) (found []string) {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		is := slices.ContainsFunc(strings.Split(string(command), "\x00"), func(a string) bool { return strings.HasPrefix(a, argument) })
		if !is && variable != "" {
			env, _ := os.ReadFile(filepath.Join(folder, "environ"))
			is = slices.Contains(strings.Split(string(env), "\x00"), variable)
		}
		if is {
			found = append(found, string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// enough is the maximum time from the start of a program until it has ended what killed runners left.
const enough = 10 * time.Second

// verifyCleaned checks that a call, which has not been killed, ends in time what the runners killed before it have left.
func (t *trial) verifyCleaned(c *call) {
	var found []string
	for {
		found = nil
		for _, id := range c.before {
			found = append(found, t.ofRun(id)...)
		}
		if len(found) == 0 {
			return
		}
		if time.Since(c.began) > enough {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Left += len(found)
	for _, p := range found {
		t.complain("%s after the start of %s it still runs: %s", enough, c, p)
	}
}
