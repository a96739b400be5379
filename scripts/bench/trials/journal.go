package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// event has the fields of a journal's line that are checked.
type event struct {
	Seq       int    `json:"seq"`
	Event     string `json:"event"`
	Run       string `json:"run"`
	Node      string `json:"node"`
	Item      *int   `json:"item"`
	Iteration int    `json:"iteration"`
	Handled   bool   `json:"handled"`
	FromRun   string `json:"from_run"`
	Status    string `json:"status"`
	Error     *struct {
		Type        string   `json:"type"`
		Message     string   `json:"message"`
		Suggestions []string `json:"suggestions"`
	} `json:"error"`
	Outputs map[string]json.RawMessage `json:"outputs"`
}

// completes returns the key of the node, item or iteration that an event completes, and whether it completes one.
func (e *event) completes() (key string, ok bool) {
	switch {
	case e.FromRun != "":
	case e.Event == "node_completed", e.Event == "node_failed" && e.Handled && e.Item == nil:
		return e.Node, true
	case e.Event == "item_completed" && e.Item != nil:
		return fmt.Sprintf("%s[%d]", e.Node, *e.Item), true
	case e.Event == "iteration_completed":
		return fmt.Sprintf("%s#%d", e.Node, e.Iteration), true
	}
	return "", false
}

// journal is the journal of a run.
type journal struct {
	text   []byte
	events []event
	wrong  string
}

// journal reads a run's journal, except an incomplete last line.
func (t *trial) journal(id string) journal {
	text, err := os.ReadFile(filepath.Join(t.home, "runs", id, "journal.ndjson"))
	j := journal{text: text}
	if err != nil {
		j.wrong = "cannot read it"
		return j
	}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var e event
		n := len(j.events) + 1
		switch err := json.Unmarshal(line, &e); {
		case err != nil:
			j.wrong = fmt.Sprintf("line %d is not an event: %v", n, err)
		case e.Seq != n:
			j.wrong = fmt.Sprintf("line %d has the number %d", n, e.Seq)
		case e.Run != id:
			j.wrong = fmt.Sprintf("line %d is of run %s", n, e.Run)
		case (e.Event == "run_started") != (n == 1):
			j.wrong = fmt.Sprintf("line %d is %s", n, e.Event)
		case n > 1 && j.events[n-2].Event == "run_finished":
			j.wrong = fmt.Sprintf("line %d follows run_finished", n)
		}
		if j.wrong != "" {
			return j
		}
		j.events = append(j.events, e)
	}
	return j
}

// status returns the status of the run, which no process executes.
func (j journal) status() string {
	if n := len(j.events); n > 0 && j.events[n-1].Event == "run_finished" {
		return j.events[n-1].Status
	}
	return "interrupted"
}
