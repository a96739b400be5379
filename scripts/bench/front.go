package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The limits of a read over stdio, on an idle machine.
const (
	readMS      = 25
	readTailMS  = 60
	readRatio   = 4 // to describe_workflow
	commandMS   = 15
	frontMS     = 3
	answerBytes = 8192
)

// read is a call of a tool of pflow-serve that changes nothing.
type read struct{ name, tool, arguments string }

// reads are the calls that are measured. The first is the one with which the others are compared.
var reads = []read{
	{"describe_workflow", "describe_workflow", `{"name":"flow-50"}`},
	{"list_library", "list_library", `{}`},
	{"list_library of words", "list_library", `{"pattern":"message"}`},
	{"browse_components", "browse_components", `{"query":"create issue"}`},
	{"browse_components of a sentence", "browse_components", `{"query":"I want to creat an isue on githbu"}`},
	{"browse_components of everything", "browse_components", `{}`},
	{"browse_components of an unknown word", "browse_components", `{"query":"zzzz"}`},
	{"browse_components of 10,000 unknown words", "browse_components", unknownWords(10_000)},
}

// unknownWords returns the arguments of a query of words that occur nowhere.
func unknownWords(n int) string {
	var words strings.Builder
	for i := range n {
		fmt.Fprintf(&words, "qwrty%d ", i)
	}
	return fmt.Sprintf(`{"query":%q}`, words.String())
}

func (r read) request(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, r.tool, r.arguments)
}

// frontReads measures what a client waits for the tools of pflow-serve that read, with 1,000 saved workflows and 10,000 node types of 13
// servers: the time of a call, the processor time of the command that answers it, what the front adds to that, and the size of the
// answer.
func (b *bench) frontReads() ([]result, error) {
	const rounds = 200
	dir, err := b.largeHome("front")
	if err != nil {
		return nil, err
	}
	commands, err := b.commandsOf(dir)
	if err != nil {
		return nil, err
	}
	s, err := connect(dir, b.path("bin", "pflow-serve"))
	if err != nil {
		return nil, err
	}
	defer s.stop()
	measured := make([]readTimes, len(reads))
	for round := range rounds + 1 {
		for i, r := range reads {
			answer, took, err := s.request(r.request(round))
			if err == nil {
				err = measured[i].see(answer)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			alone, cpu, err := processorTime(dir, commands[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			if round > 0 {
				measured[i].add(took, alone, cpu)
			}
		}
	}
	var results []result
	for i, r := range reads {
		results = append(results, measured[i].results(r.name, rounds, measured[0].calls)...)
	}
	return results, nil
}

// readTimes has what was measured of a read, in milliseconds and bytes.
type readTimes struct {
	calls, alone, cpu []float64
	document, text    int
}

func (r *readTimes) add(call, alone, cpu time.Duration) {
	r.calls, r.alone, r.cpu = append(r.calls, milliseconds(call)), append(r.alone, milliseconds(alone)), append(r.cpu, milliseconds(cpu))
}

// see notes the size of an answer, which must not be a failure.
func (r *readTimes) see(answer []byte) error {
	var message struct {
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
			Content           []struct{ Text string }
		}
	}
	if err := json.Unmarshal(answer, &message); err != nil {
		return err
	}
	if message.Result.IsError || len(message.Result.Content) == 0 {
		return fmt.Errorf("the call failed: %.300s", answer)
	}
	r.document, r.text = len(message.Result.StructuredContent), 0
	for _, block := range message.Result.Content {
		r.text += len(block.Text)
	}
	return nil
}

// results returns the rows of a read. The calls of describe_workflow are those with which it is compared.
func (r *readTimes) results(name string, rounds int, describes []float64) []result {
	row := func(what string, value float64, unit string, limit float64, beside ...figure) result {
		return result{Subject: name + ", " + what, quantity: quantity{value, unit}, Limit: limit, Rounds: rounds, Beside: beside}
	}
	added := make([]float64, len(r.calls))
	for i := range added {
		added[i] = r.calls[i] - r.alone[i]
	}
	rows := []result{
		row("median", median(r.calls), "ms", readMS, figure{"its command alone", quantity{median(r.alone), "ms"}}),
		row("99th percentile", percentile(r.calls, 99), "ms", readTailMS),
		row("processor time of its command", median(r.cpu), "ms", commandMS),
		row("added by the front", median(added), "ms", frontMS),
		row("document", float64(r.document), "bytes", answerBytes),
		row("text", float64(r.text), "bytes", answerBytes),
	}
	if &describes[0] == &r.calls[0] {
		return rows
	}
	return append(rows, row("to describe_workflow", ratio(r.calls, describes), "x", readRatio))
}

// processorTime runs a command and returns how long it took, and the processor time that it needed.
func processorTime(dir string, args []string) (took, cpu time.Duration, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PFLOW_HOME="+homeIn(dir))
	var out bytes.Buffer
	cmd.Stdout = &out
	start := time.Now()
	err = cmd.Run()
	took = time.Since(start)
	if err != nil {
		return 0, 0, err
	}
	return took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// commandsOf returns for each read the command that pflow-serve starts to answer it. A script in the place of pflow-lib notes it.
func (b *bench) commandsOf(dir string) ([][]string, error) {
	noted := b.path("noted-command")
	if err := os.MkdirAll(b.path("noting"), 0o700); err != nil {
		return nil, err
	}
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\0' \"$@\" >'%s'\nexec '%s' \"$@\"\n", noted, b.path("bin", "pflow-lib"))
	if err := os.WriteFile(b.path("noting", "pflow-lib"), []byte(script), 0o700); err != nil { //nolint:gosec // it must be executable
		return nil, err
	}
	if err := os.Link(b.path("bin", "pflow-serve"), b.path("noting", "pflow-serve")); err != nil {
		return nil, err
	}
	s, err := connect(dir, b.path("noting", "pflow-serve"))
	if err != nil {
		return nil, err
	}
	defer s.stop()
	var commands [][]string
	for i, r := range reads {
		if _, _, err := s.request(r.request(i)); err != nil {
			return nil, err
		}
		args, err := os.ReadFile(noted)
		if err != nil {
			return nil, err
		}
		if len(args) == 0 {
			return nil, errors.New("pflow-serve started no pflow-lib for " + r.name)
		}
		commands = append(commands, append([]string{b.path("bin", "pflow-lib")}, strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00")...))
	}
	return commands, nil
}

// largeHome returns a folder with a home that has 1,000 saved workflows, 20 drafts and 10,000 node types of 13 servers.
func (b *bench) largeHome(name string) (string, error) { return b.filledHome(name, 1000, 20, 10_000) }

// filledHome returns a folder with a home that has some saved workflows, drafts, and node types of 13 servers.
func (b *bench) filledHome(name string, saved, drafts, types int) (string, error) {
	dir := b.path(name)
	for _, folder := range []string{"library", "workflows"} {
		if err := os.MkdirAll(filepath.Join(homeIn(dir), folder), 0o700); err != nil {
			return "", err
		}
	}
	source, err := tools(types, 13)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(homeIn(dir), "registry.json"), source, 0o600); err != nil {
		return "", err
	}
	random := rand.New(rand.NewPCG(3, 4))
	words := vocabulary(random)
	for i := range saved + drafts {
		place := filepath.Join("library", fmt.Sprintf("flow-%d.json", i))
		if i >= saved {
			place = filepath.Join("workflows", fmt.Sprintf("draft-%d.json", i))
		}
		text, err := json.MarshalIndent(savedWorkflow(random, words), "", "  ")
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(homeIn(dir), place), text, 0o600); err != nil {
			return "", err
		}
	}
	time.Sleep(2500 * time.Millisecond) // indexes are stored two seconds after a change
	return dir, nil
}

// savedWorkflow returns a workflow as people save them: with some sentences, inputs, three nodes and an output.
func savedWorkflow(random *rand.Rand, words []string) object {
	shell := func(id, command string) object {
		return object{"id": id, "type": "shell", "purpose": sentence(random, words, 6), "params": object{"command": command}}
	}
	return object{
		"version": "1.0.0", "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-02-03T04:05:06Z", "description": sentence(random, words, 18),
		"inputs": object{
			"path":  object{"type": "string", "description": sentence(random, words, 8)},
			"limit": object{"type": "integer", "default": 10, "description": sentence(random, words, 8)},
		},
		"nodes":   []object{shell("get", "cat ${path} | head -n ${limit}"), shell("count", "printf %s ${get.stdout} | wc -l"), shell("say", "echo ${count.stdout}")},
		"edges":   []object{{"from": "get", "to": "count"}, {"from": "count", "to": "say"}},
		"outputs": object{"lines": object{"source": "${count.stdout}", "description": sentence(random, words, 8)}},
	}
}
