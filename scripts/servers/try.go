package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// result is what a server did.
type result struct {
	Server  string `json:"server"`
	Version string `json:"version"`
	Tools   int    `json:"tools"`
	SyncMS  int64  `json:"sync_ms"`
	// Calls is the number of calls in the run, and RunMS its time with the start of the server.
	Calls int   `json:"calls"`
	RunMS int64 `json:"run_ms"`
	// Said is the error of a server that is expected to fail.
	Said string `json:"said,omitempty"`
	// Problem is what is wrong, or empty.
	Problem string `json:"problem,omitempty"`
}

// trial is the folder in which a server is tried.
type trial struct {
	server
	dir, bin, tools string
}

// object is a JSON object.
type object = map[string]any

// try syncs a server, and runs a workflow that calls its tools one after the other.
func (s server) try(dir, tools string) (result, error) {
	t := trial{server: s, dir: filepath.Join(dir, strings.NewReplacer("/", "-", "@", "").Replace(s.Name)), bin: filepath.Join(dir, "bin"), tools: tools}
	r := result{Server: s.Name, Version: s.Version, Calls: len(s.Calls)}
	if err := os.MkdirAll(filepath.Join(t.dir, "data"), 0o750); err != nil {
		return r, err
	}
	for name, text := range s.Files {
		if err := os.WriteFile(filepath.Join(t.dir, "data", name), []byte(text), 0o600); err != nil {
			return r, err
		}
	}
	if s.Prepare != nil {
		if _, err := output(s.Prepare[0], t.expandAll(s.Prepare[1:])...); err != nil {
			return r, err
		}
	}
	if s.Needs != "" { // without its credentials it says which it needs
		if out := t.run("pflow-sync", "call", "--", s.program(tools), "--", s.Calls[0].Tool); !strings.Contains(out.text(), s.Needs) {
			r.Problem = fmt.Sprintf("without credentials it does not say %s: %s", s.Needs, out.text())
			return r, nil
		}
	}
	entry := object{"command": s.program(tools), "args": t.expandAll(s.Args), "env": t.expandMap(s.Env), "timeout": 60}
	if err := t.write("home/mcp-servers.json", object{"mcpServers": object{"s": entry}}); err != nil {
		return r, err
	}
	began := time.Now()
	out := t.run("pflow-sync", "sync", "s")
	r.SyncMS = time.Since(began).Milliseconds()
	var synced struct {
		Tools int `json:"tools_registered"`
	}
	if json.Unmarshal([]byte(out.stdout), &synced) != nil || out.exit != 0 {
		r.Problem = "sync: " + out.text()
		return r, nil
	}
	r.Tools = synced.Tools
	return t.call(r)
}

// call runs the workflow.
func (t trial) call(r result) (result, error) {
	var nodes, edges []object
	for i, c := range t.Calls {
		var params json.RawMessage
		if err := json.Unmarshal([]byte(t.expand(c.Arguments)), &params); err != nil {
			return r, fmt.Errorf("the arguments of %s: %w", c.Tool, err)
		}
		name, err := t.nodeType(c.Tool)
		if err != nil {
			r.Problem = err.Error()
			return r, nil //nolint:nilerr // it is the server's
		}
		nodes = append(nodes, object{"id": fmt.Sprint("n", i), "type": name, "params": params})
		if i > 0 {
			edge := object{"from": fmt.Sprint("n", i-1), "to": fmt.Sprint("n", i)}
			if t.Calls[i-1].Fails != "" {
				edge["action"] = "error"
			}
			edges = append(edges, edge)
		}
	}
	if err := t.write("w.json", object{"nodes": nodes, "edges": edges}); err != nil {
		return r, err
	}
	began := time.Now()
	out := t.run("pflow-exec", "run", "w.json", "--format", "ndjson")
	r.RunMS = time.Since(began).Milliseconds()
	r.Said, r.Problem = t.judge(out)
	return r, nil
}

// nodeType returns the node type of a tool.
func (t trial) nodeType(tool string) (string, error) {
	out := t.run("pflow-sync", "tools", "s", tool)
	var listed struct {
		NodeType string `json:"node_type"`
	}
	if json.Unmarshal([]byte(out.stdout), &listed) != nil || listed.NodeType == "" {
		return "", fmt.Errorf("it has no tool %s: %s", tool, out.text())
	}
	return listed.NodeType, nil
}

// judge compares the events of the run with what the calls should do. It returns the server's expected error.
func (t trial) judge(out outcome) (said, problem string) {
	ended := map[string]string{} // the last event of each node
	for line := range strings.Lines(out.stdout) {
		var e struct{ Event, Node string }
		if json.Unmarshal([]byte(line), &e) == nil && (e.Event == "node_completed" || e.Event == "node_failed") {
			ended[e.Node] = line
		}
	}
	for i, c := range t.Calls {
		line, ok := ended[fmt.Sprint("n", i)]
		failed := strings.Contains(line, `"node_failed"`)
		switch {
		case !ok:
			return said, fmt.Sprintf("%s was not called: %s", c.Tool, out.text())
		case failed != (c.Fails != "") || !regexp.MustCompile(c.Fails+c.Wants).MatchString(line):
			return said, fmt.Sprintf("%s: %.500s", c.Tool, line)
		case failed:
			var e struct{ Error struct{ Message string } }
			_ = json.Unmarshal([]byte(line), &e)
			said = fmt.Sprintf("%.100s", e.Error.Message)
		}
	}
	return said, ""
}

// outcome is what a program printed, and its exit status.
type outcome struct {
	stdout, stderr string
	exit           int
}

func (o outcome) text() string {
	return fmt.Sprintf("exit status %d: %.600s %.600s", o.exit, o.stdout, o.stderr)
}

// run runs a program of the suite in the trial's folder.
func (t trial) run(name string, args ...string) outcome {
	cmd := exec.Command(filepath.Join(t.bin, name), args...) //nolint:gosec // the programs are ours
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), "PFLOW_HOME="+filepath.Join(t.dir, "home"), "HOME="+t.dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return outcome{"", err.Error(), -1}
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func (t trial) write(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	path := filepath.Join(t.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// expand replaces DATA by the folder of the trial's data.
func (t trial) expand(text string) string {
	return strings.ReplaceAll(text, "DATA", filepath.Join(t.dir, "data"))
}

func (t trial) expandAll(texts []string) []string {
	expanded := make([]string, len(texts))
	for i, text := range texts {
		expanded[i] = t.expand(text)
	}
	return expanded
}

func (t trial) expandMap(texts map[string]string) map[string]string {
	expanded := map[string]string{}
	for name, text := range texts {
		expanded[name] = t.expand(text)
	}
	return expanded
}
