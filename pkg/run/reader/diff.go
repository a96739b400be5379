package reader

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Diff is the document of what differs between two runs. Each pair has what the first run has, then what the second has.
type Diff struct {
	Runs   [2]string `json:"runs"`
	Same   bool      `json:"same"`
	Differ []string  `json:"differ"`

	Workflow   [2]string       `json:"workflow"`
	Status     [2]event.Status `json:"status"`
	DurationMS [2]*float64     `json:"duration_ms"`
	// Inputs and Outputs are those of the runs that differ.
	Inputs  []ValueDiff `json:"inputs,omitempty"`
	Outputs []ValueDiff `json:"outputs,omitempty"`
	// Nodes are those that differ, SameNodes is how many do not.
	Nodes     []NodeDiff `json:"nodes"`
	SameNodes int        `json:"same_nodes"`
}

// NodeDiff is what differs between two executions of a node.
type NodeDiff struct {
	Node string `json:"node"`
	// Differ lists what differs: DiffersStatus and so on.
	Differ []string `json:"differ"`
	// State is empty in a run that does not have the node.
	State      [2]string   `json:"state"`
	DurationMS [2]*float64 `json:"duration_ms"`
	Outputs    []ValueDiff `json:"outputs,omitempty"`
}

// What can differ.
const (
	DiffersWorkflow = "workflow"
	DiffersStatus   = "status"
	DiffersInputs   = "inputs"
	DiffersOutputs  = "outputs"
	DiffersTime     = "time"
)

// ValueDiff is a value that differs. A side is nil if it does not have the value.
type ValueDiff struct {
	Path  string             `json:"path"`
	Sides [2]json.RawMessage `json:"values"`
}

// maxValueDiffs is how many values that differ are listed of a node.
const maxValueDiffs = 20

// DiffWith returns what differs between this run and another, without texts of more than limit characters; 0 is no limit.
func (r *Run) DiffWith(other *Run, limit int) (*Diff, error) {
	d := &Diff{Runs: [2]string{r.ID(), other.ID()}, Differ: []string{}, Nodes: []NodeDiff{}}
	var sides [2]*history.Run
	var definitions [2]string
	var inputs, outputs [2]json.RawMessage
	for i, run := range []*Run{r, other} {
		h, status, err := run.now()
		if err != nil {
			return nil, err
		}
		sides[i], d.Status[i] = h, status
		if e := h.Started; e != nil {
			d.Workflow[i], definitions[i] = e.Workflow.Name, e.Workflow.Digest
			if inputs[i], err = run.value(e.Inputs, limit); err != nil {
				return nil, err
			}
			ms := float64(h.Elapsed(h.Time).Microseconds()) / 1000
			d.DurationMS[i] = &ms
		}
		if h.Finished != nil {
			if outputs[i], err = run.value(h.Finished.Outputs, limit); err != nil {
				return nil, err
			}
		}
	}
	d.Inputs, d.Outputs = valueDiffs(inputs), valueDiffs(outputs)
	d.Differ = differing(map[string]bool{
		DiffersWorkflow: definitions[0] != definitions[1], DiffersStatus: d.Status[0] != d.Status[1], DiffersInputs: len(d.Inputs) > 0,
		DiffersOutputs: len(d.Outputs) > 0, DiffersTime: slower(d.DurationMS),
	})
	if err := d.diffNodes([2]*Run{r, other}, sides, limit); err != nil {
		return nil, err
	}
	d.Same = len(d.Nodes) == 0 && !slices.ContainsFunc(d.Differ, func(what string) bool { return what != DiffersTime })
	return d, nil
}

// diffNodes compares the nodes of both runs, in the order of the first one, then those that only the second has.
func (d *Diff) diffNodes(runs [2]*Run, sides [2]*history.Run, limit int) error {
	var paths []string
	seen := map[string]bool{}
	for _, h := range sides {
		for n := range h.All() {
			if !seen[n.Path] {
				seen[n.Path] = true
				paths = append(paths, n.Path)
			}
		}
	}
	for _, path := range paths {
		n, err := diffNode(path, runs, sides, d.Status, limit)
		if err != nil {
			return err
		}
		if len(n.Differ) == 0 {
			d.SameNodes++
			continue
		}
		d.Nodes = append(d.Nodes, *n)
	}
	return nil
}

func diffNode(path string, runs [2]*Run, sides [2]*history.Run, status [2]event.Status, limit int) (*NodeDiff, error) {
	d := &NodeDiff{Node: path}
	var outputs [2]json.RawMessage
	var digests [2]string
	var current [2]bool // whether the digest has a part behind a dot, which those of older runs have not
	for i, h := range sides {
		n := h.Node(path)
		if n == nil {
			continue
		}
		details, err := runs[i].details(n, h.Time, status[i], limit)
		if err != nil {
			return nil, err
		}
		d.State[i], outputs[i] = details.State, details.Outputs
		digests[i], _, current[i] = strings.Cut(n.InputDigest, ".") // behind the dot is what identifies the nodes before it
		if n.State != history.Reused {
			d.DurationMS[i] = details.DurationMS
		}
	}
	same := [2]string{ended(d.State[0]), ended(d.State[1])}
	if outputs[0] != nil && outputs[1] != nil {
		d.Outputs = valueDiffs(outputs)
	}
	d.Differ = differing(map[string]bool{
		DiffersStatus: same[0] != same[1], DiffersOutputs: len(d.Outputs) > 0, DiffersTime: slower(d.DurationMS),
		DiffersInputs: digests[0] != digests[1] && digests[0] != "" && digests[1] != "" && current[0] == current[1],
	})
	return d, nil
}

// ended returns a state for a comparison: a reused node is completed.
func ended(state string) string {
	if state == string(history.Reused) {
		return string(history.Completed)
	}
	return state
}

// differing returns the names that are set, in a fixed order.
func differing(set map[string]bool) []string {
	names := []string{}
	for _, name := range []string{DiffersWorkflow, DiffersStatus, DiffersInputs, DiffersOutputs, DiffersTime} {
		if set[name] {
			names = append(names, name)
		}
	}
	return names
}

// slower reports whether one of two durations is at least half as long again as the other, and 100 ms longer.
func slower(ms [2]*float64) bool {
	if ms[0] == nil || ms[1] == nil {
		return false
	}
	least, most := min(*ms[0], *ms[1]), max(*ms[0], *ms[1])
	return most >= least*1.5 && most >= least+100
}

// valueDiffs returns the values in two objects that differ, by their paths in it.
func valueDiffs(sides [2]json.RawMessage) (diffs []ValueDiff) {
	compare(template.Ref{}, gjson.ParseBytes(sides[0]), gjson.ParseBytes(sides[1]), func(at template.Ref, a, b gjson.Result) bool {
		diffs = append(diffs, ValueDiff{pathOf(at), [2]json.RawMessage{rawOf(a), rawOf(b)}})
		return len(diffs) < maxValueDiffs
	})
	return diffs
}

// pathOf returns a path in a value, as it stands after the name of the node in a template.
func pathOf(at template.Ref) string {
	path := at.Expression()
	if path != "" && path[0] == '.' {
		return path[1:]
	}
	return path
}

func rawOf(v gjson.Result) json.RawMessage {
	if !v.Exists() {
		return json.RawMessage("null")
	}
	return json.RawMessage(v.Raw)
}

// compare calls found with the values that differ, the innermost in objects and in lists of equal length, until it returns false.
func compare(at template.Ref, a, b gjson.Result, found func(at template.Ref, a, b gjson.Result) bool) bool {
	if a.Raw == b.Raw || bytes.Equal(rawjson.Compact(json.RawMessage(a.Raw)), rawjson.Compact(json.RawMessage(b.Raw))) {
		return true
	}
	in := func(step template.Step, a, b gjson.Result) bool {
		return compare(template.Ref{Path: append(slices.Clip(at.Path), step)}, a, b, found)
	}
	switch {
	case a.IsObject() && b.IsObject():
		left, right := a.Map(), b.Map()
		more := true
		a.ForEach(func(k, v gjson.Result) bool {
			more = in(template.Step{Key: k.Str}, v, right[k.Str])
			return more
		})
		b.ForEach(func(k, v gjson.Result) bool {
			if _, both := left[k.Str]; more && !both {
				more = in(template.Step{Key: k.Str}, gjson.Result{}, v)
			}
			return more
		})
		return more
	case a.IsArray() && b.IsArray() && len(a.Array()) == len(b.Array()):
		right := b.Array()
		for i, v := range a.Array() {
			if !in(template.Step{Index: i, IsIndex: true}, v, right[i]) {
				return false
			}
		}
		return true
	}
	return found(at, a, b)
}
