package workflow

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// TestWorkflowRoundTrip checks that a workflow does not change when it is written as JSON and parsed.
func TestWorkflowRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkflow(t, rapid.Bool().Draw(t, "sayable"))
		raw, err := rawjson.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse("w.json", raw)
		if err != nil {
			t.Fatalf("%v\n%s", err, raw)
		}
		if d := cmp.Diff(w, f.Workflow, same); d != "" {
			t.Fatalf("%s\n%s", d, raw)
		}
	})
}

// TestMarkdownRoundTrip checks that a workflow does not change when it is written as Markdown and parsed.
func TestMarkdownRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkflow(t, true)
		text, err := Markdown(w, "A title")
		if err != nil {
			t.Fatalf("%v\n%+v", err, w)
		}
		f, err := Parse("w.pflow.md", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, want := *f.Workflow, *w
		got.Edges, want.Edges = f.Workflow.significantEdges(), w.significantEdges()
		if d := cmp.Diff(want, got, same); d != "" {
			t.Fatalf("%s\n%s", d, text)
		}
		again, err := Parse("w.json", f.JSON())
		if err != nil {
			t.Fatalf("%v\n%s", err, f.JSON())
		}
		if d := cmp.Diff(f.Workflow, again.Workflow, same); d != "" {
			t.Fatal(d)
		}
	})
}

// TestMarkdownSaysWhatItCannot checks that any workflow is the same in Markdown, or results in an error.
func TestMarkdownSaysWhatItCannot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkflow(t, false)
		text, err := Markdown(w, "")
		if err != nil {
			return
		}
		f, err := Parse("w.pflow.md", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, want := *f.Workflow, *w
		got.Edges, want.Edges = f.Workflow.significantEdges(), w.significantEdges()
		if d := cmp.Diff(want, got, same); d != "" {
			t.Fatalf("%s\n%s", d, text)
		}
	})
}

func TestMarkdownNamesWhatItCannotSay(t *testing.T) {
	step := func(id string) Node { return Node{ID: id, Type: "echo", Purpose: "Text."} }
	edge := Edge{From: "a", To: "b"}
	for name, c := range map[string]struct {
		w    Workflow
		want string
	}{
		"no purpose":     {Workflow{Nodes: []Node{{ID: "a", Type: "echo"}}}, "nodes[0].purpose is missing"},
		"odd name":       {Workflow{Nodes: []Node{step("A")}}, `the name "A"`},
		"end":            {Workflow{Nodes: []Node{step("end")}}, "the name end"},
		"list":           {Workflow{Nodes: []Node{{ID: "a", Type: "echo", Purpose: "- a\n- b"}}}, "nodes[0].purpose must be plain prose"},
		"no edges":       {Workflow{Nodes: []Node{step("a"), step("b")}}, "no edges"},
		"two beginnings": {Workflow{Nodes: []Node{step("a"), step("b"), step("c")}, Edges: []Edge{edge}}, `No edge leads to node "c"`},
		"unknown node":   {Workflow{Nodes: []Node{step("a"), step("b")}, Edges: []Edge{edge, {From: "a", To: "c"}}}, `from "a" to "c"`},
		"parameter":      {Workflow{Nodes: []Node{{ID: "a", Type: "echo", Purpose: "Text.", Params: json.RawMessage(`{"retry": 3}`)}}}, "the name retry"},
		"input":          {Workflow{Inputs: map[string]Input{"x": {Type: "any"}}, Nodes: []Node{step("a")}}, "inputs.x.description is missing"},
		"twice":          {Workflow{Nodes: []Node{step("a"), step("a")}, Edges: []Edge{{From: "a", To: "a"}}}, "Duplicate step"},
		"no type":        {Workflow{Nodes: []Node{{ID: "a", Purpose: "x"}}}, `needs "type"`},
	} {
		text, err := Markdown(&c.w, "T")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s\n%s", name, err, c.want, text)
		}
	}
}

// anyWorkflow draws a workflow. A sayable one can be expressed in the Markdown form.
func anyWorkflow(t *rapid.T, sayable bool) *Workflow {
	draw := drawer{t, sayable}
	w := &Workflow{
		IRVersion:              rapid.SampledFrom([]string{"", "0.1.0"}).Draw(t, "version"),
		Description:            draw.prose("description", true),
		Category:               rapid.SampledFrom([]string{"", "report", "true", "two words: x"}).Draw(t, "category"),
		ExecutionType:          rapid.SampledFrom([]string{"", "sync", "async"}).Draw(t, "execution type"),
		TemplateResolutionMode: rapid.SampledFrom([]string{"", "strict", "permissive"}).Draw(t, "mode"),
	}
	if tags := rapid.SliceOfN(rapid.SampledFrom([]string{"tool", "1", "null", "a, b", "#c", "ü\n"}), 0, 3).Draw(t, "tags"); len(tags) > 0 {
		w.Tags = tags
	}
	if rapid.Bool().Draw(t, "runtime") {
		fails := rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(t, "fails")
		onFailure := rapid.SampledFrom([]string{"", FinishOnFailure, StopOnFailure}).Draw(t, "on failure")
		w.Runtime = &Runtime{FailDegraded: fails, OnFailure: onFailure, MaxOutput: rawjson.Bytes(rapid.SampledFrom([]int64{0, 1, 30e6, 1 << 31, 1<<53 - 1}).Draw(t, "most"))}
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "nodes") {
		w.Nodes = append(w.Nodes, draw.node(fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"a", "null", "yes-", "x_"}).Draw(t, "id"), i)))
	}
	draw.edges(w)
	for i := range rapid.IntRange(0, 2).Draw(t, "inputs") {
		if w.Inputs == nil {
			w.Inputs = map[string]Input{}
		}
		w.Inputs[fmt.Sprintf("in%d", i)] = draw.input()
	}
	if rapid.Bool().Draw(t, "outputs") {
		w.Outputs = map[string]Output{"out": {Description: draw.prose("output", false), Type: rapid.SampledFrom([]string{"", "string", "yes"}).Draw(t, "type"), Source: draw.filled("source"), Stdout: rapid.Bool().Draw(t, "stdout")}}
	}
	return w
}

type drawer struct {
	*rapid.T
	sayable bool
}

// prose draws plain paragraphs for a sayable workflow, otherwise any text.
func (d drawer) prose(label string, optional bool) string {
	if !d.sayable {
		return d.text(label)
	}
	from := `([A-Z][a-z ,.é]{0,20}[a-z.](\n|\n\n)){0,3}[A-Z][a-z #*-]{0,20}\.`
	s := rapid.StringMatching(from).Draw(d.T, label)
	if optional && rapid.Bool().Draw(d.T, "none") {
		return "A title"
	}
	return s
}

func (d drawer) text(label string) string {
	return rapid.OneOf(rapid.StringMatching("[a-z${}.:#'\"`~|> \n\t-]{0,30}"), rapid.String(), rapid.SampledFrom([]string{"yes", "null", "0x10", "1e3", "```\nx\n```", "a\r\nb", "- x: y", "\n", "007", "~~~", "…"})).Draw(d.T, label)
}

func (d drawer) filled(label string) string { return "x" + d.text(label) }

func (d drawer) value(label string) json.RawMessage {
	raw, err := rawjson.Marshal(rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return drawer{t, d.sayable}.text("text") }),
		rapid.SampledFrom([]any{nil, true, json.Number("1e400"), json.Number("12345678901234567890"), json.Number("-0.50"), []any{}, map[string]any{}}),
		rapid.Custom(func(t *rapid.T) any {
			return []any{drawer{t, d.sayable}.text("item"), map[string]any{drawer{t, d.sayable}.text("key"): 1}}
		}),
	).Draw(d.T, label))
	if err != nil {
		d.Fatal(err)
	}
	return raw
}

func (d drawer) duration(label string) Duration {
	return Duration(rapid.SampledFrom([]time.Duration{time.Millisecond, 1500 * time.Millisecond, time.Minute, 90 * time.Second}).Draw(d.T, label))
}

func (d drawer) node(id string) Node {
	n := Node{ID: id, Type: rapid.SampledFrom([]string{"echo", "shell", "yes", "mcp-a-b"}).Draw(d.T, "type"), Purpose: d.prose("purpose", false)}
	var params []byte
	names := []string{"command", "message", "data", "a b", "x.y", "timeout", "inputs", "__z", "é"}
	if !d.sayable {
		names = append(names, "type", "retry", "next", "")
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID[string]).Draw(d.T, "params") {
		value := d.value("param")
		if name == "timeout" && value[0] == '{' {
			continue
		}
		if len(params) > 0 {
			params = append(params, ',')
		}
		params = append(append(rawjson.AppendQuoted(params, name), ':'), value...)
	}
	n.Params = json.RawMessage("{" + string(params) + "}")
	if rapid.Bool().Draw(d.T, "batch") {
		n.Batch = &Batch{
			Items: rapid.SampledFrom([]json.RawMessage{json.RawMessage(`["a",{"b":null}]`), json.RawMessage(`[]`), json.RawMessage(`"${x.y}"`), json.RawMessage(`"no: ${x}"`)}).Draw(d.T, "items"),
			As:    rapid.SampledFrom([]string{"item", "no", "x_1"}).Draw(d.T, "as"), ErrorHandling: rapid.SampledFrom([]string{"fail_fast", "continue"}).Draw(d.T, "handling"),
			Parallel: rapid.Bool().Draw(d.T, "parallel"), MaxConcurrent: rapid.IntRange(1, 100).Draw(d.T, "concurrent"),
			MaxRetries: rapid.IntRange(1, 10).Draw(d.T, "retries"), RetryWait: d.duration("wait"),
		}
	}
	if rapid.Bool().Draw(d.T, "loop") {
		n.Loop = &Loop{While: rapid.SampledFrom([]string{"true", "${a.b}"}).Draw(d.T, "while"), MaxIterations: strconv.AppendInt(nil, int64(rapid.IntRange(1, 10000).Draw(d.T, "iterations")), 10)}
		if rapid.Bool().Draw(d.T, "wait") {
			n.Loop.Wait, n.Loop.Backoff, n.Loop.MaxWait = json.RawMessage("0.5"), json.RawMessage(`"exponential"`), json.RawMessage(`"${a.most}"`)
		}
		if rapid.Bool().Draw(d.T, "until") {
			n.Loop.While, n.Loop.Until, n.Loop.Carry = "", "${a.b}", map[string]json.RawMessage{"c": d.value("carry")}
		}
	}
	if rapid.Bool().Draw(d.T, "retry") {
		wait := d.duration("wait")
		n.Retry = &Retry{
			Max: rapid.IntRange(1, 100).Draw(d.T, "max"), Wait: wait, Backoff: rapid.SampledFrom([]string{"fixed", "exponential"}).Draw(d.T, "backoff"),
			MaxWait: wait + d.duration("more"), Jitter: rapid.Float64Range(0, 1).Draw(d.T, "jitter"), OnlyExitCodes: []int{1, 255},
		}
	}
	if rapid.Bool().Draw(d.T, "timeout") && !strings.Contains(string(n.Params), `"timeout":`) {
		n.Timeout = &Timeout{Node: d.duration("node")}
	}
	switch rapid.IntRange(0, 2).Draw(d.T, "approval") {
	case 1:
		n.Approval = &Approval{}
	case 2:
		n.Approval = &Approval{Question: d.text("question"), Choices: []string{"yes", d.filled("choice") + "1"}}
	}
	if rapid.Bool().Draw(d.T, "cache") {
		n.Cache = &Cache{TTL: rapid.SampledFrom([]Duration{defaultTTL, Duration(time.Second)}).Draw(d.T, "ttl")}
	}
	n.UnsafeTemplates = rapid.Bool().Draw(d.T, "unsafe")
	return n
}

// edges draws a chain with additional routes for a sayable workflow, otherwise any edges.
func (d drawer) edges(w *Workflow) {
	n := len(w.Nodes)
	action := rapid.SampledFrom([]string{"default", "error", "retry", "yes", "a b"})
	if !d.sayable {
		for range rapid.IntRange(0, 4).Draw(d.T, "edges") {
			at := rapid.IntRange(0, n-1)
			w.Edges = append(w.Edges, Edge{w.Nodes[at.Draw(d.T, "from")].ID, w.Nodes[at.Draw(d.T, "to")].ID, action.Draw(d.T, "action")})
		}
		return
	}
	seen := map[Edge]bool{}
	for to := 1; to < n; to++ {
		for range rapid.IntRange(1, 2).Draw(d.T, "into") {
			from := rapid.IntRange(0, to-1).Draw(d.T, "from")
			e := Edge{w.Nodes[from].ID, w.Nodes[to].ID, action.Draw(d.T, "action")}
			if !seen[e] {
				w.Edges = append(w.Edges, e)
			}
			seen[e] = true
		}
	}
	for from := range n - 1 {
		switch rapid.IntRange(0, 5).Draw(d.T, "more") {
		case 0:
			w.Edges = append(w.Edges, Edge{w.Nodes[from].ID, EndOfBranch, rapid.SampledFrom([]string{"default", "retry", "other"}).Draw(d.T, "ends")})
		case 1: // code that names a node below, and perhaps the end
			to := rapid.IntRange(from+1, n-1).Draw(d.T, "code")
			node := &w.Nodes[from]
			node.Type, node.Batch = CodeType, nil
			node.Params = json.RawMessage(fmt.Sprintf(`{"code":"next = \"%s\" if x else \"%s\""}`, w.Nodes[to].ID, rapid.SampledFrom([]string{w.Nodes[to].ID, EndOfBranch}).Draw(d.T, "or")))
		}
	}
}

func (d drawer) input() Input {
	in := Input{Description: d.prose("input", false), Type: rapid.SampledFrom(InputTypes()).Draw(d.T, "type"), Stdin: rapid.Bool().Draw(d.T, "stdin"), Secret: rapid.Bool().Draw(d.T, "secret")}
	if rapid.Bool().Draw(d.T, "optional") {
		required := rapid.Bool().Draw(d.T, "required")
		in.Required = &required
	}
	if rapid.Bool().Draw(d.T, "default") {
		in.Default = d.value("default")
	}
	return in
}

// faultOf returns the fault in an error, or a fault that says that there is no error.
func faultOf(err error) *fault.Fault {
	if err == nil {
		return fault.New(fault.Internal, "no error")
	}
	return fault.From(err)
}
