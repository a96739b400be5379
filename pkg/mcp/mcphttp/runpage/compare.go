package runpage

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// comparison is the content of the page that compares two runs, as pflow-exec diff prints it.
type comparison struct {
	Runs       [2]string   `json:"runs"`
	Same       bool        `json:"same"`
	Workflow   [2]string   `json:"workflow"`
	Status     [2]string   `json:"status"`
	DurationMS [2]*float64 `json:"duration_ms"`
	Inputs     []valueDiff `json:"inputs"`
	Outputs    []valueDiff `json:"outputs"`
	Nodes      []nodeDiff  `json:"nodes"`
	SameNodes  int         `json:"same_nodes"`
}

// valueDiff is a value that differs between two runs.
type valueDiff struct {
	Path   string             `json:"path"`
	Values [2]json.RawMessage `json:"values"`
}

// nodeDiff is a node that differs.
type nodeDiff struct {
	Node       string      `json:"node"`
	Differ     []string    `json:"differ"`
	State      [2]string   `json:"state"`
	DurationMS [2]*float64 `json:"duration_ms"`
	Outputs    []valueDiff `json:"outputs"`
}

// side is one of two runs or values that stand side by side.
type side struct {
	Label, Run, Workflow, Took string
	Status                     status
}

// Sides returns the two runs.
func (c comparison) Sides() (sides [2]side) {
	for i := range sides {
		sides[i] = side{[2]string{"A", "B"}[i], c.Runs[i], c.Workflow[i], tookMS(c.DurationMS[i]), statusOf(c.Status[i])}
	}
	return sides
}

// part is a table of values that differ.
type part struct {
	Title, What string
	Values      []valueDiff
}

// Parts returns the tables of inputs and outputs.
func (c comparison) Parts() (parts []part) {
	for _, p := range []part{{"Inputs", "Input", c.Inputs}, {"Outputs", "Output", c.Outputs}} {
		if len(p.Values) > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

// Sides returns the two values as text.
func (d valueDiff) Sides() (texts [2]string) {
	for i, value := range d.Values {
		var text string
		if json.Unmarshal(value, &text) != nil || string(value) == "null" {
			text = string(value)
		}
		texts[i] = fault.Truncate(text, maxShown)
	}
	return texts
}

// maxShown is the most bytes of a value in a comparison.
const maxShown = 4000

// What returns what differs.
func (d nodeDiff) What() string { return strings.Join(d.Differ, ", ") }

// States returns the two states, each with its duration.
func (d nodeDiff) States() (texts [2]string) {
	for i, state := range d.State {
		texts[i] = strings.TrimSpace(state + " " + tookMS(d.DurationMS[i]))
	}
	return texts
}

func tookMS(ms *float64) string {
	if ms == nil {
		return ""
	}
	return took(time.Duration(*ms * float64(time.Millisecond)))
}

// compare is the page of two runs. It costs one command.
func (h *Handler) compare(r *http.Request, reach *Reach) (*page, error) {
	query := r.URL.Query()
	first, second := query.Get("a"), query.Get("b")
	if chosen := query["run"]; len(chosen) == 2 { // the list without its script, which has the newer one first
		first, second = chosen[1], chosen[0]
	}
	if first == "" || second == "" {
		return nil, fault.New(fault.Usage, "Two runs are needed to compare them").Suggest("Choose them in the list of runs")
	}
	for _, run := range []string{first, second} {
		if !isRun(run) {
			return nil, noRun(run)
		}
	}
	printed, err := h.Programs.Print(r.Context(), maxList, "pflow-exec", "diff", "--format=json", "--", first, second)
	if unnamed(err) {
		return nil, noPair(first, second)
	}
	if err != nil {
		return nil, err
	}
	var c comparison
	if json.Unmarshal(printed, &c) != nil {
		return nil, fault.New(fault.Protocol, "pflow-exec diff printed no comparison")
	}
	if !reach.sees(c.Workflow[0]) || !reach.sees(c.Workflow[1]) {
		return nil, noPair(first, second)
	}
	return &page{Name: "compare", Title: "Compare", Content: c}, nil
}

// noPair is the fault for two runs of which the sender may not see both.
func noPair(first, second string) error {
	return fault.New(fault.NotFound, "There are no two runs %q and %q", fault.Truncate(first, maxEcho), fault.Truncate(second, maxEcho))
}
