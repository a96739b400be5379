package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// goTask is the pinned version of go-task.
const goTask = "3.53.1"

// tool returns the path of a program to compare with, and whether it was found. It reports a missing program once.
func (b *bench) tool(name string) (path string, ok bool) {
	path, known := b.tools[name]
	if !known {
		var err error
		if path, err = find(name); err != nil {
			fmt.Fprintf(os.Stderr, "bench: skipping %s: %v\n", name, err)
			path = ""
		}
		b.tools[name] = path
	}
	return path, path != ""
}

func find(name string) (string, error) {
	if name == "task" {
		return findTask()
	}
	return exec.LookPath(name)
}

// findTask returns the path of the pinned version of go-task. It installs it into the repository's bin/tools unless it is there
// or on PATH.
func findTask() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("cannot find the folder to install it into: %w", err)
	}
	tools := filepath.Join(strings.TrimSpace(string(root)), "bin", "tools")
	installed := filepath.Join(tools, "task")
	for _, path := range []string{installed, "task"} {
		if version, err := exec.Command(path, "--version").Output(); err == nil && strings.TrimSpace(string(version)) == goTask {
			return path, nil
		}
	}
	fmt.Fprintf(os.Stderr, "bench: installing go-task %s into bin/tools (some minutes, once)\n", goTask)
	install := exec.Command("go", "install", "github.com/go-task/task/v3/cmd/task@v"+goTask)
	install.Env = append(os.Environ(), "GOBIN="+tools)
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot install it: %w\n%s", err, out)
	}
	return installed, nil
}
