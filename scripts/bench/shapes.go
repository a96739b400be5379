package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type object = map[string]any

// step is a step that does nothing. If after is not empty, it runs after that step.
type step struct{ name, after string }

// shape is a set of steps.
type shape []step

func chain(n int) shape {
	s := fan(n)
	for i := range s[1:] {
		s[i+1].after = s[i].name
	}
	return s
}

func fan(n int) shape {
	s := make(shape, n)
	for i := range s {
		s[i].name = fmt.Sprintf("n%d", i+1)
	}
	return s
}

// write writes the shape for every program that can run it: as NAME.json, .mk, .ninja and .yml.
func (b *bench) write(name string, s shape) error {
	nodes, edges := s.nodes()
	if err := b.writeWorkflow(name, object{"nodes": nodes, "edges": edges}); err != nil {
		return err
	}
	for extension, text := range map[string]string{".mk": s.makefile(), ".ninja": s.ninja(), ".yml": s.taskfile()} {
		if err := os.WriteFile(b.path(name+extension), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) writeWorkflow(name string, workflow object) error {
	text, err := json.Marshal(workflow)
	if err != nil {
		return err
	}
	return os.WriteFile(b.path(name+".json"), text, 0o600)
}

// nodes returns nodes whose commands need no shell: the node starts /bin/true itself.
func (s shape) nodes() (nodes, edges []object) {
	edges = []object{}
	for _, each := range s {
		nodes = append(nodes, shellNode(each.name, "/bin/true"))
		if each.after != "" {
			edges = append(edges, object{"from": each.after, "to": each.name})
		}
	}
	return nodes, edges
}

func shellNode(id, command string) object {
	return object{"id": id, "type": "shell", "params": object{"command": command}}
}

// makefile returns a makefile whose recipes need no shell: make starts /bin/true itself.
func (s shape) makefile() string {
	var text strings.Builder
	names := strings.Join(s.names(), " ")
	fmt.Fprintf(&text, "all: %[1]s\n.PHONY: all %[1]s\n", names)
	for _, each := range s {
		fmt.Fprintf(&text, "%s: %s\n\t@/bin/true\n", each.name, each.after)
	}
	return text.String()
}

// ninja returns a file for ninja, which starts every command with /bin/sh -c. No step makes the file that it names, so every
// step runs.
func (s shape) ninja() string {
	var text strings.Builder
	text.WriteString("rule true\n  command = /bin/true\n")
	for _, each := range s {
		fmt.Fprintf(&text, "build %s: true %s\n", each.name, each.after)
	}
	return text.String()
}

// taskfile returns a file for go-task, whose built-in shell starts the commands without an own process.
func (s shape) taskfile() string {
	var text strings.Builder
	goals := s.names()
	if s[len(s)-1].after != "" {
		goals = goals[len(s)-1:] // go-task would run a task once for each task that depends on it
	}
	fmt.Fprintf(&text, "version: '3'\ntasks:\n  all:\n    deps: [%s]\n", strings.Join(goals, ", "))
	for _, each := range s {
		fmt.Fprintf(&text, "  %s:\n    deps: [%s]\n    cmds: [/bin/true]\n", each.name, each.after)
	}
	return text.String()
}

func (s shape) names() []string {
	var names []string
	for _, each := range s {
		names = append(names, each.name)
	}
	return names
}
