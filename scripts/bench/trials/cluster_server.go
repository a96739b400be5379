package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// shutDown ends the workers and the server.
func (c *onCluster) shutDown() {
	for i, w := range c.workers {
		if w == nil {
			continue
		}
		_ = w.cmd.Process.Signal(syscall.SIGTERM) // an interrupt may be ignored in the background
		c.wait(w)
		for deadline := time.Now().Add(enough); ; time.Sleep(20 * time.Millisecond) {
			left := c.find("PFLOW_HOME="+c.workerHome(i), c.strayName)
			if len(left) == 0 {
				break
			}
			if time.Now().After(deadline) {
				c.Left += len(left)
				c.complain("a worker has left %v", left)
				break
			}
		}
	}
	for _, other := range []*call{c.batch, c.follower} {
		if other != nil && c.running(other) {
			_ = other.cmd.Process.Kill()
			c.wait(other)
		}
	}
	c.verifyNothingRuns()
	left, _ := os.ReadDir(filepath.Join(c.dir, "tmp"))
	for _, file := range left {
		if !strings.HasPrefix(file.Name(), ".") { // else a killed program was about to replace a file
			c.Left++
			c.complain("a temporary file is left: %v", file)
		}
	}
	if c.server != nil {
		close(c.watching)
		c.serving.Lock()
		defer c.serving.Unlock()
		c.server.Kill()
	}
}

// commandsOf returns the processes of pflow-temporal with a command that belong to this trial.
func (c *onCluster) commandsOf(command string) (pids []int) {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		words := strings.Split(string(line), "\x00")
		env, _ := os.ReadFile(filepath.Join(folder, "environ"))
		if len(words) < 2 || filepath.Base(words[0]) != "pflow-temporal" || words[1] != command || !slices.Contains(strings.Split(string(env), "\x00"), "PFLOW_HOME="+c.home) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(folder)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
