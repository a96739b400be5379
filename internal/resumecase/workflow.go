// Package resumecase makes random workflows and changes of them, and says by a model what a run of one must do after others: see Run.
package resumecase

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Flow is a workflow. Each of its nodes stands after those that it waits for.
type Flow struct {
	Nodes []*Node
	Edges []Edge `json:",omitempty"`
}

// Edge leads from a node to another one if the first ends with the action.
type Edge struct{ From, To, Action string }

// End is how a node ends.
type End string

// A node ends well, by one of two ways that its parameters decide, never well, or well in its second attempt.
const (
	Well  End = ""
	Fork  End = "fork"
	Bad   End = "bad"
	Flaky End = "flaky"
)

// Node is a node of the type "one" or "two". Its value is made from its type and its text.
type Node struct {
	ID, Type, Label string
	End             End      `json:",omitempty"`
	Reads           []string `json:",omitempty"` // the nodes whose values it reads
	Items           []string // of its batch; one that begins with "wrong" fails, which the batch bears
	Parallel        int      `json:",omitempty"`
	Rounds          int      `json:",omitempty"` // of its loop
	Until           bool     `json:",omitempty"` // the loop has a condition, not a limit
	Sub             *Flow    `json:",omitempty"` // the workflow that it runs
	Ask             string   `json:",omitempty"` // the question before it runs
	Cache           bool     `json:",omitempty"`
	Long            bool     `json:",omitempty"` // it puts out a value that is too long for an event
	Tries           int      `json:",omitempty"`
	Purpose         string   `json:",omitempty"`
	Limits          bool     `json:",omitempty"` // it has a timeout, and its loop a wait
	Spelled         bool     `json:",omitempty"` // its parameters are in another order, and its text is spelled with an escape
}

// Result returns the value and the action of a node of a type, by its text.
func Result(kind, text string, end End, long bool) (value, action string) {
	sum := sha256.Sum256([]byte(kind + "\n" + text))
	value, action = fmt.Sprintf("%x", sum[:3]), "default"
	if long {
		value = strings.Repeat(value, 11000)
	}
	switch {
	case end == Bad || strings.Contains(text, "wrong"):
		return "", "error"
	case end == Fork:
		action = []string{"left", "right"}[sum[3]%2]
	}
	return value, action
}

func (n *Node) result(text string) (value, action string) { return Result(n.Type, text, n.End, n.Long) }

// CacheKey returns what the outputs of a node, or of an item of its batch, are cached under.
func (n *Node) CacheKey(text string) string { return n.is() + text }

// Caches reports whether the outputs of a node, or of an item of its batch, are put into the cache.
func (n *Node) Caches(text string) bool {
	_, action := n.result(text)
	return n.Cache && action == "default"
}

// At returns the node of a path, with or without the numbers of items and iterations.
func (f *Flow) At(path string) *Node {
	first, rest, inside := strings.Cut(path, "/")
	if i := strings.IndexAny(first, "[#"); i >= 0 {
		first = first[:i]
	}
	n := f.node(first)
	if n == nil || !inside {
		return n
	}
	return n.Sub.At(rest)
}

// attempts returns how often a node is tried until it ends with an action.
func (n *Node) attempts(action string) int {
	switch {
	case action == "error":
		return max(n.Tries, 1)
	case n.End == Flaky:
		return 2
	}
	return 1
}

// into returns the edges to a node.
func (f *Flow) into(n *Node) (edges []Edge) {
	for _, e := range f.Edges {
		if e.To == n.ID {
			edges = append(edges, e)
		}
	}
	return edges
}

// node returns a node by its id, or nil.
func (f *Flow) node(id string) *Node {
	for _, n := range f.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// text returns the parameter of a node: its label, other words, and the values that it reads.
func (f *Flow) text(n *Node, done map[string]Done, words []string) string {
	words = append([]string{n.Label}, words...)
	for _, id := range n.Reads {
		words = append(words, f.node(id).value(done))
	}
	return strings.Join(words, " ")
}

// value returns what templates read of a node.
func (n *Node) value(done map[string]Done) string {
	d, ran := done[n.ID]
	switch {
	case ran && d.Action != "error":
		return d.Value
	case n.Items != nil:
		return batchValue(nil)
	}
	return "-"
}

// batchValue is what templates read of a batch: the first three values, and their number. It is made of the values of the good items, nil
// if there is no batch.
func batchValue(good []string) string {
	number := "-"
	if good != nil {
		number = fmt.Sprint(len(good))
	}
	values := append(slices.Clone(good), "-", "-", "-")[:3]
	return strings.Join(append(values, number), ",")
}

// value returns the output of a workflow.
func (f *Flow) value(done map[string]Done) string {
	var values []string
	for _, n := range f.Nodes {
		values = append(values, n.value(done))
	}
	return strings.Join(values, ",")
}

// round returns the text of an iteration. A workflow is given what is carried beside it.
func (n *Node) round(text func(...string) string, k int, carried string) string {
	if n.Sub != nil {
		return text(fmt.Sprint(k))
	}
	return text(fmt.Sprint(k), carried)
}

// params returns what stands in the parameters of a node besides its text.
func (n *Node) params() string {
	rounds := 0
	if n.Until {
		rounds = n.Rounds
	}
	raw, _ := json.Marshal([]any{n.Type, n.End, n.Long, n.Sub.essence(), rounds})
	return string(raw)
}

// essence returns a workflow without what only schedules or describes its nodes, or asks about them.
func (f *Flow) essence() *Flow {
	if f == nil {
		return nil
	}
	flows, _ := all(f.clone(), 0)
	for _, inner := range flows {
		for _, n := range inner.Nodes {
			n.Parallel, n.Tries, n.Ask, n.Purpose, n.Cache, n.Limits, n.Spelled = 0, 0, "", "", false, false, false
		}
	}
	return flows[0]
}

// is returns what a node is besides its text: what else decides about each of its steps.
func (n *Node) is() string { return n.params() }

// values reports whether the value of a node depends on its parameters alone.
func (n *Node) values() bool { return n.Sub == nil && n.Type == "two" }

// whole returns what a node is with all its parts.
func (n *Node) whole(text func(...string) string) string {
	is := n.is() + fmt.Sprint(n.Items, n.Rounds, n.Until)
	switch {
	case n.Items != nil:
		var items strings.Builder
		for i, item := range n.Items {
			items.WriteString(text(item, fmt.Sprint(i)))
		}
		return is + items.String()
	case n.Rounds > 0:
		return is + n.round(text, 1, "first")
	}
	return is + text()
}

// question returns what is asked about a node.
func (n *Node) question(text func(...string) string) string {
	if n.Rounds > 0 {
		return n.Ask + n.params() + n.round(text, 1, "first")
	}
	return n.Ask + n.params() + text()
}

// JSON returns the definition of a workflow.
func (f *Flow) JSON() json.RawMessage {
	outputs := ordered{}
	for _, n := range f.Nodes {
		outputs.add(n.ID, ordered{{"source", n.source()}})
	}
	return marshal(append(ordered{{"inputs", json.RawMessage(`{"x":{"default":"x"},"c":{"default":"none"}}`)}}, append(f.fields(), field{"outputs", outputs})...))
}

// fields returns the nodes and edges of a workflow.
func (f *Flow) fields() ordered {
	var nodes, edges []ordered
	for _, n := range f.Nodes {
		nodes = append(nodes, f.fieldsOf(n))
	}
	for _, e := range f.Edges {
		edges = append(edges, ordered{{"from", e.From}, {"to", e.To}, {"action", e.Action}})
	}
	for _, n := range f.Nodes { // each node has an edge, if there are any, and both ways of a fork lead somewhere
		ways := []string{"left", "right"}
		if n.End != Fork {
			ways = []string{"default"}
		}
		for _, way := range ways {
			if len(f.Edges) > 0 && (n.End == Fork || !slices.ContainsFunc(f.Edges, func(e Edge) bool { return e.From == n.ID || e.To == n.ID })) {
				edges = append(edges, ordered{{"from", n.ID}, {"to", "end"}, {"action", way}})
			}
		}
	}
	if edges == nil {
		return ordered{{"nodes", nodes}}
	}
	return ordered{{"nodes", nodes}, {"edges", edges}}
}

// source returns the template of what others read of a node.
func (n *Node) source() string {
	if n.Items == nil {
		return `${` + n.ID + `.v ?? "-"}`
	}
	var parts []string
	for _, part := range []string{"results[0].v", "results[1].v", "results[2].v", "success_count"} {
		parts = append(parts, `${`+n.ID+`.`+part+` ?? "-"}`)
	}
	return strings.Join(parts, ",")
}

// fieldsOf returns the fields of a node.
func (f *Flow) fieldsOf(n *Node) ordered {
	words := []string{n.Label, "${x}", "${c}"}
	fields := ordered{{"id", n.ID}, {"type", n.Type}}
	inputs := ordered{}
	switch {
	case n.Items != nil:
		batch := ordered{{"items", n.Items}, {"error_handling", "continue"}}
		if n.Parallel > 0 {
			batch = append(batch, field{"parallel", true}, field{"max_concurrent", n.Parallel})
		}
		fields.add("batch", batch)
		words = append(words, "${item}", "${__index__}")
	case n.Rounds > 0:
		carried := "d"
		loop := ordered{{"while", true}, {"max_iterations", n.Rounds}}
		if n.Until {
			loop = ordered{{"until", "${" + n.ID + ".last}"}}
		}
		if words = append(words, "${__iteration__}"); n.Sub != nil {
			carried = "c"
		} else {
			words = append(words, "${d}")
		}
		if n.Limits {
			loop.add("wait", "1ms")
		}
		fields.add("loop", append(loop, field{"carry", ordered{{carried, "${" + n.ID + ".v}"}}}))
		inputs = ordered{{carried, "first"}}
	}
	for _, id := range n.Reads {
		words = append(words, f.node(id).source())
	}
	text := strings.Join(words, " ")
	params := ordered{{"text", text}}
	if n.Sub != nil {
		fields[1].value = "workflow"
		var sources []string
		for _, m := range n.Sub.Nodes {
			sources = append(sources, m.source())
		}
		inner := append(ordered{{"inputs", json.RawMessage(`{"x":{},"c":{"default":"none"}}`)}}, n.Sub.fields()...)
		inner.add("outputs", ordered{{"v", ordered{{"source", strings.Join(sources, ",")}}}})
		params, inputs = ordered{{"workflow", inner}}, append(inputs, field{"x", text})
	} else if n.End != Well {
		params.add("end", string(n.End))
	}
	if n.Long {
		params.add("long", true)
	}
	if n.Until {
		params.add("rounds", n.Rounds)
	}
	if len(inputs) > 0 {
		params.add("inputs", inputs)
	}
	if n.Spelled {
		for i, p := range params {
			if p.name == "text" {
				params[i].value = json.RawMessage(fmt.Sprintf(`"\u%04x`, text[0]) + string(rawjson.Quote(text[1:]))[1:])
			}
		}
		slices.Reverse(params)
	}
	fields.add("params", params)
	if n.Limits {
		fields.add("timeout", "1h")
	}
	if n.Ask != "" {
		fields.add("approval", ordered{{"question", n.Ask}})
	}
	if n.Cache {
		fields.add("cache", true)
	}
	if n.Tries > 0 {
		fields.add("retry", ordered{{"max", n.Tries}})
	}
	if n.Purpose != "" {
		fields.add("purpose", n.Purpose)
	}
	return fields
}

// ordered is a JSON object that keeps the order of its fields.
type ordered []field

type field struct {
	name  string
	value any
}

func (o *ordered) add(name string, value any) { *o = append(*o, field{name, value}) }

func (o ordered) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, f := range o {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, rawjson.Quote(f.name)...), ':'), marshal(f.value)...)
	}
	return append(text, '}'), nil
}

func marshal(v any) json.RawMessage {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		panic(err) // it has only texts, numbers and lists
	}
	return raw
}
