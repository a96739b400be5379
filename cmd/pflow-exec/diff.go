package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type diffCommand struct {
	First          string `arg:"" help:"A run's id, a prefix of it that no other run has, or last." complete:"run"`
	Second         string `arg:"" help:"The run to compare it with." complete:"run"`
	MaxOutputChars int    `help:"Leave out longer texts (${default}); 0 leaves out none." default:"2000" placeholder:"N"`
}

// Help returns the longer text of --help.
func (diffCommand) Help() string {
	return `Shows which nodes differ in their status, inputs, outputs or time. A reused node counts as completed, and has no time. A time differs
if one is half as long again as the other, and 100 ms longer.`
}

// Run compares two runs.
func (c *diffCommand) Run(app *cli.App) error {
	if app.MaxBytes > 0 {
		return fault.New(fault.Usage, "diff prints all differences, so --max-bytes has no effect").
			Suggest("Leave it out; --max-output-chars N leaves out texts of more than N characters")
	}
	first, err := openRun(app, c.First)
	if err != nil {
		return err
	}
	second, err := openRun(app, c.Second)
	if err != nil {
		return err
	}
	d, err := first.DiffWith(second, c.MaxOutputChars)
	if err != nil {
		return err
	}
	return app.Document(d, func(w io.Writer) { writeDiff(w, d) })
}

// writeDiff writes a difference for people.
func writeDiff(w io.Writer, d *reader.Diff) {
	_, _ = fmt.Fprintf(w, "%s  %s  %s  %s\n%s  %s  %s  %s\n", d.Runs[0], d.Workflow[0], d.Status[0], took(d.DurationMS[0]), d.Runs[1], d.Workflow[1], d.Status[1], took(d.DurationMS[1]))
	if slices.Contains(d.Differ, reader.DiffersWorkflow) {
		_, _ = fmt.Fprintln(w, "the workflow differs")
	}
	writeValues(w, "input ", d.Inputs)
	for _, n := range d.Nodes {
		_, _ = fmt.Fprintf(w, "%s: %s\n", n.Node, strings.Join(n.Differ, ", "))
		if n.State[0] != n.State[1] {
			_, _ = fmt.Fprintf(w, "  %s → %s\n", stateOf(n.State[0]), stateOf(n.State[1]))
		}
		if slices.Contains(n.Differ, reader.DiffersTime) {
			_, _ = fmt.Fprintf(w, "  %s → %s\n", took(n.DurationMS[0]), took(n.DurationMS[1]))
		}
		writeValues(w, "  ", n.Outputs)
	}
	if d.SameNodes > 0 {
		_, _ = fmt.Fprintf(w, "the same: %d\n", d.SameNodes)
	}
}

// writeValues writes values that differ, below each other.
func writeValues(w io.Writer, indent string, values []reader.ValueDiff) {
	for _, v := range values {
		_, _ = fmt.Fprintf(w, "%s%s: %s → %s\n", indent, cells.Clean(v.Path), sample(v.Sides[0]), sample(v.Sides[1]))
	}
}

// stateOf returns a state for people.
func stateOf(state string) string {
	if state == "" {
		return "not there"
	}
	return state
}
