package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// node is the section of a node.
type node struct {
	ID, Path string
	// Level is the level of its heading, 3 to 6.
	Level         int
	Type, Purpose string
	State         state
	Open          bool
	Took          string
	Facts         facts
	Error         *failure
	Answer        *approval
	Attempts      *table
	Params        []param
	Settings      []field
	Outputs       []field
	Items         *items
	Inner         []*node
	InnerNote     string
	Warnings      []string
}

// approval is the question to a person, and the answer.
type approval struct {
	Question, Choices, Answer, By string
	Facts                         facts
}

// table is a table with a caption; each row has a state.
type table struct {
	Caption string
	Heads   []string
	Rows    []row
}

type row struct {
	State state
	Cells []string
	// Slow is set for an item that took much longer than most.
	Slow bool
}

// sections returns the sections of the chosen nodes. The note says how many nodes have none.
func (r *writer) sections(nodes []*history.Node, level int) (out []*node, note string) {
	for _, n := range nodes {
		if _, ok := r.anchors[n.Path]; ok {
			out = append(out, r.section(n, level))
		}
	}
	if left := len(nodes) - len(out); left > 0 {
		note = fmt.Sprintf("Not shown here: %s. The run’s events include them.", plural(left, "node"))
	}
	return out, note
}

// section returns the section of a node.
func (r *writer) section(n *history.Node, level int) *node {
	space := r.nodeBudget(len(r.anchors))
	s := &node{
		ID: r.anchors[n.Path], Path: oneLine(n.Path), Level: min(level, 6), Type: oneLine(n.Type), State: r.nodeState(n),
	}
	s.Open = n.State == history.Failed || n.State == history.Running || n.State == history.Waiting || s.State.Class == "degraded"
	s.Took = r.took(n)
	if n.Error != nil {
		s.Error = r.failure(n.Error, space)
		s.Error.Node = ""
	}
	s.Answer = r.answer(n)
	s.Attempts = r.attempts(n)
	if def := r.recorded.Definition(n); def != nil {
		s.Type, s.Purpose = oneLine(def.Type), oneLine(def.Purpose)
		s.Params = r.params(n, def, space)
		s.Settings = r.settings(def, space)
	}
	s.Facts = r.nodeFacts(n, s.Type)
	s.Outputs = r.fields(n.Outputs, space)
	s.Items = r.itemsOf(n, r.recorded.Definition(n))
	s.Warnings = eachOnOneLine(n.Warnings)
	s.Inner, s.InnerNote = r.sections(n.Inner, level+1)
	return s
}

// took returns how long a node took; "" for a node that did nothing in this run.
func (r *writer) took(n *history.Node) string {
	took := n.Elapsed(r.Now)
	if took <= 0 || n.State == history.Reused || n.State == history.Skipped || len(n.Attempts) == 0 && n.State == history.Waiting && r.Now.Equal(n.Asked) {
		return ""
	}
	return history.FormatDuration(took)
}

func (r *writer) answer(n *history.Node) *approval {
	if n.Question == "" && n.Answer == "" {
		return nil
	}
	a := &approval{Question: visible(cut(n.Question, maxValue)), Choices: joined(n.Choices), Answer: oneLine(n.Answer), By: oneLine(n.By)}
	if !n.Asked.IsZero() {
		a.Facts.at("Asked", r.after(n.Asked), n.Asked)
		if !n.Answered.IsZero() {
			a.Facts.add("Waited", history.FormatDuration(n.Answered.Sub(n.Asked)))
		}
	}
	return a
}

// maxAttempts is the most rows of a table of attempts.
const maxAttempts = 500

// attempts returns the table of attempts; nil for fewer than two, which add nothing to the node itself.
func (r *writer) attempts(n *history.Node) *table {
	if len(n.Attempts) < 2 {
		return nil
	}
	t := &table{Caption: plural(len(n.Attempts), "attempt"), Heads: []string{"Attempt", "Started", "Took", "Result"}}
	loop := n.Iteration > 0
	if loop {
		t.Caption = plural(n.Iteration, "iteration")
		if len(n.Attempts) > n.Iteration {
			t.Caption += ", " + plural(len(n.Attempts), "attempt")
		}
		t.Heads = slices.Insert(t.Heads, 0, "Iteration")
	}
	tried := n.Attempts
	if len(tried) > maxAttempts {
		t.Caption += fmt.Sprintf(", the last %d", maxAttempts)
		tried = tried[len(tried)-maxAttempts:]
	}
	for _, a := range tried {
		t.Rows = append(t.Rows, r.attempt(n, &a, loop))
	}
	return t
}

func (r *writer) attempt(n *history.Node, a *history.Attempt, loop bool) row {
	w := row{State: stateOf("completed"), Cells: []string{strconv.Itoa(a.Number), r.after(a.Began), "", ""}}
	if a.FromRun != "" {
		w.Cells[0] = "–"
	}
	switch {
	case a.Error != nil:
		w.State, w.Cells[3] = stateOf("failed"), summaryOf(a.Error.Message)
	case a.FromRun != "":
		w.State, w.Cells[3] = stateOf("reused"), "Reused from run "+oneLine(a.FromRun)
	case a.Ended.IsZero():
		w.State = r.nodeState(n)
	}
	if w.Cells[3] == "" {
		w.Cells[3] = w.State.Word
	}
	if !a.Ended.IsZero() {
		w.Cells[2] = history.FormatDuration(a.Ended.Sub(a.Began))
	}
	if loop {
		w.Cells = slices.Insert(w.Cells, 0, strconv.Itoa(a.Iteration))
	}
	return w
}

// settings returns the properties of a node that control how it runs.
func (r *writer) settings(def *workflow.Node, space *budget) (fields []field) {
	add := func(name string, is bool, v any) {
		if !is {
			return
		}
		if raw, err := rawjson.Marshal(v); err == nil {
			fields = append(fields, field{Name: name, value: r.value(json.RawMessage(raw), space)})
		}
	}
	add("batch", def.Batch != nil, def.Batch)
	add("loop", def.Loop != nil, def.Loop)
	add("retry", def.Retry != nil, def.Retry)
	add("timeout", def.Timeout != nil, def.Timeout)
	add("approval", def.Approval != nil, def.Approval)
	add("cache", def.Cache != nil, def.Cache)
	add("unsafe_templates", def.UnsafeTemplates, def.UnsafeTemplates)
	return fields
}
