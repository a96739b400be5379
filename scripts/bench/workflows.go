package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The limits of a pflow-serve with 1,000 workflows as tools.
const (
	offeredWorkflows = 1000
	listMS           = 50
	idleMB           = 40
	mostNotices      = 2
)

// workflowTools measures a server that offers 1,000 workflows as tools: the time of tools/list, the memory when it is idle, and how many
// notices a client gets of 500 edits within two seconds. It needs /proc.
func (b *bench) workflowTools() ([]result, error) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		fmt.Fprintln(os.Stderr, "bench: there is no /proc, so workflows as tools are not measured")
		return nil, nil
	}
	const rounds, edits = 30, 500
	dir := b.path("offered")
	for i := range offeredWorkflows {
		if err := saveOffered(dir, i, 0); err != nil {
			return nil, err
		}
	}
	s, err := connect(dir, b.path("bin", "pflow-serve"), "--toolsets=workflows", "--log-level=error")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	var times []float64
	size := 0
	for round := range rounds + 1 {
		answer, took, err := s.request(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, round))
		if err != nil {
			return nil, err
		}
		if size = len(answer); round > 0 { // the first one fills what is kept
			times = append(times, took.Seconds()*1000)
		}
	}
	time.Sleep(65 * time.Second) // an idle server gives memory back once a minute
	left, err := s.leftovers(dir)
	if err != nil {
		return nil, err
	}
	noticed := make(chan int)
	go func() {
		notices := 0
		for {
			line, err := s.receive()
			if err != nil || bytes.Contains(line, []byte(`"id":"end"`)) {
				noticed <- notices
				return
			}
			notices++
		}
	}()
	began := time.Now()
	for i := range edits {
		if err := saveOffered(dir, i, 1); err != nil {
			return nil, err
		}
		time.Sleep(time.Until(began.Add(time.Duration(i+1) * 2 * time.Second / edits)))
	}
	time.Sleep(4 * time.Second) // later ones would be more notices
	if err := s.send(`{"jsonrpc":"2.0","id":"end","method":"ping"}`); err != nil {
		return nil, err
	}
	return []result{
		{Subject: "tools/list, first page", quantity: quantity{median(times), "ms"}, Limit: listMS, Rounds: rounds, Beside: []figure{{"size", quantity{float64(size) / 1e6, "MB"}}}},
		{Subject: "idle memory", quantity: quantity{left.memory, "MB"}, Limit: idleMB, Rounds: 1},
		{Subject: "notices of 500 edits in 2 s", quantity: quantity{float64(<-noticed), ""}, Limit: mostNotices, Rounds: 1},
	}, nil
}

// saveOffered saves the workflow i in one step.
func saveOffered(dir string, i, edit int) error {
	library := filepath.Join(homeIn(dir), "library")
	inputs := object{}
	for k := range 4 {
		inputs[fmt.Sprint("in", k)] = object{"type": "string", "description": "what it is for"}
	}
	text, err := json.Marshal(object{
		"description": fmt.Sprintf("Does thing %d for the team and writes a report about it, edit %d.", i, edit), "inputs": inputs,
		"nodes": []object{{"id": "a", "type": "echo", "params": object{"message": "x"}}},
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(library, 0o700); err != nil {
		return err
	}
	temporary := filepath.Join(library, ".new")
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(library, fmt.Sprintf("flow-%04d.json", i)))
}
