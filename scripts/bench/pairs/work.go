package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// work is what both programs do: a command on a generated workflow.
type work struct {
	name, program, command string
	nodes                  int
	chain                  bool
}

var works = []work{
	{"a chain of 100", "pflow-exec", "run", 100, true},
	{"a fan-out of 100", "pflow-exec", "run", 100, false},
	{"a run of one node", "pflow-exec", "run", 1, false},
	{"a check of 10,000 nodes", "pflow-lib", "check", 10_000, true},
}

// workflow returns nodes that run the command true, one after the other if they are a chain.
func (w work) workflow() ([]byte, error) {
	type object = map[string]any
	nodes, edges := []object{}, []object{}
	for i := range w.nodes {
		nodes = append(nodes, object{"id": fmt.Sprintf("n%d", i), "type": "shell", "params": object{"command": "true"}})
		if w.chain && i > 0 {
			edges = append(edges, object{"from": fmt.Sprintf("n%d", i-1), "to": fmt.Sprintf("n%d", i)})
		}
	}
	return json.Marshal(object{"nodes": nodes, "edges": edges})
}

// compare runs the pairs, after one that does not count.
func (w work) compare(dir, old, after string, pairs int) (result, error) {
	text, err := w.workflow()
	if err != nil {
		return result{}, err
	}
	path := filepath.Join(dir, "w.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return result{}, err
	}
	var programs [2]string
	for i, from := range []string{old, after} {
		programs[i] = filepath.Join(dir, []string{"old", "new"}[i])
		if err := copyProgram(programs[i], filepath.Join(from, w.program)); err != nil {
			return result{}, err
		}
	}
	var times [2][]float64
	var wall, cpu []float64
	for pair := range pairs + 1 {
		var took [2]usage
		first := rand.IntN(2)
		for _, i := range []int{first, 1 - first} {
			if took[i], err = w.run(programs[i], path); err != nil {
				return result{}, err
			}
		}
		if pair == 0 {
			continue
		}
		for i, u := range took {
			times[i] = append(times[i], u.wall.Seconds()*1000)
		}
		wall = append(wall, took[1].wall.Seconds()/took[0].wall.Seconds())
		cpu = append(cpu, took[1].cpu.Seconds()/took[0].cpu.Seconds())
	}
	return result{
		Work: w.name, Pairs: pairs, OldMS: medianInterval(times[0]).Median, NewMS: medianInterval(times[1]).Median,
		Wall: medianInterval(wall), CPU: medianInterval(cpu),
	}, nil
}

// copyProgram copies a program, so that both are cached alike: one that the linker has just written starts up to a quarter
// slower than its copy, because of the smaller pages of its file in memory.
func copyProgram(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

type usage struct{ wall, cpu time.Duration }

// run runs the program once, in a new folder that is its home as well.
func (w work) run(program, workflow string) (usage, error) {
	dir, err := os.MkdirTemp(filepath.Dir(workflow), "run-")
	if err != nil {
		return usage{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.Command(program, w.command, workflow)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PFLOW_HOME="+filepath.Join(dir, "home"))
	start := time.Now()
	err = cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return usage{}, fmt.Errorf("%s %s: %w", program, w.command, err)
	}
	return usage{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}
