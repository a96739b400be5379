package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// command is a command without standard input.
type command struct {
	name   string
	args   []string
	stdout io.Writer // nil discards it
}

// execution is the time of one run of a command.
type execution struct {
	start time.Time
	took  time.Duration
	cpu   time.Duration // of the user and of the system
}

// alone runs the command in a new temporary folder.
func (c command) alone() (execution, error) {
	dir, err := os.MkdirTemp("", "pflow-bench-run-")
	if err != nil {
		return execution{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return c.in(dir)
}

// in runs the command in a folder, which also has the home. It returns an error if the command fails.
func (c command) in(dir string) (execution, error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Stdout = dir, c.stdout
	cmd.Env = append(os.Environ(), "PFLOW_HOME="+homeIn(dir))
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil {
		return execution{}, fmt.Errorf("%s: %w (%v)", c.name, err, c.args)
	}
	return execution{start, took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

func homeIn(dir string) string { return filepath.Join(dir, "home") }

// quietly runs a command that is not measured. The error has its output.
func quietly(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
