package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// temporalServer is Temporal's server for development, with its data in a file.
type temporalServer struct {
	program, address, dir string
	cmd                   *exec.Cmd
}

// newTemporalServer starts a server whose files are in a folder.
func newTemporalServer(program, dir string) (*temporalServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &temporalServer{program: program, address: l.Addr().String(), dir: dir}
	if err := l.Close(); err != nil {
		return nil, err
	}
	return s, s.start()
}

// start starts the server, also again, and waits until it takes connections.
func (s *temporalServer) start() error {
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "server.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	s.cmd = exec.Command(s.program, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", port, "--db-filename", filepath.Join(s.dir, "temporal.db"), "--log-level", "error")
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH")}, log, log
	if err := errors.Join(s.cmd.Start(), log.Close()); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", s.address)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server of Temporal does not start: %w", err)
		}
	}
}

// kill ends the server without notice.
func (s *temporalServer) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// open returns the ids of the workflows that have not ended.
func (s *temporalServer) open() ([]string, error) {
	cmd := exec.Command(s.program, "workflow", "list", "--address", s.address, "--query", "ExecutionStatus='Running'", "-o", "jsonl")
	cmd.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	return slices.Collect(strings.Lines(string(out))), err
}

// shutDown ends the workers and the server.
func (c *onCluster) shutDown() {
	for i, w := range c.workers {
		if w == nil {
			continue
		}
		_ = w.cmd.Process.Signal(os.Interrupt)
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
	if c.server != nil && c.server.cmd != nil {
		c.server.kill()
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
