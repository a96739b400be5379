package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
	"github.com/tidwall/gjson"
)

type showCommand struct {
	RunID          string   `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last." complete:"run"`
	Node           string   `arg:"" optional:"" help:"Show only this node, with its outputs; build/compile is compile inside the node build." complete:"run-node"`
	Field          []string `help:"Print only the value at this template path, such as fetch.items[0].name, or build/compile.stdout. May be given several times." placeholder:"PATH" sep:"none"`
	MaxOutputChars int      `help:"Leave out longer texts (${default}); 0 leaves out none. As text one node is shown whole, and of a batch the first items." default:"2000" placeholder:"N"`
	Raw            bool     `help:"On a terminal, print the control characters of outputs too. They can change what the terminal shows."`
}

// Run prints everything that is known about a run, or about one of its nodes.
func (c *showCommand) Run(app *cli.App) error {
	run, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	if c.Raw {
		app.Stdout.Raw()
	}
	if len(c.Field) > 0 {
		if c.Node != "" {
			return fault.New(fault.Usage, "--field names the node in its path, so NODE cannot be given").Suggest("--field %s.KEY", c.Node)
		}
		if app.MaxBytes > 0 {
			return fault.New(fault.Usage, "--max-bytes and --field cannot be combined: a value is printed whole").Suggest("Leave out one of them")
		}
		return showFields(app, run, c.Field)
	}
	if c.Node != "" {
		if !app.JSON() {
			c.MaxOutputChars = 0
		}
		n, err := run.Node(c.Node, c.MaxOutputChars)
		if err != nil {
			return err
		}
		if err := shorten(app, n); err != nil {
			return err
		}
		return app.Document(n, func(w io.Writer) { writeNode(w, n, app.Stdout.Columns()) })
	}
	d, err := run.Details(c.MaxOutputChars)
	if err != nil {
		return err
	}
	if err := shorten(app, d); err != nil {
		return err
	}
	return app.Document(d, func(w io.Writer) { writeRun(w, d, app.Stdout.Columns()) })
}

// shorten shortens a document that is to be printed with --max-bytes.
func shorten(app *cli.App, document interface {
	Limit(reader fault.Reader, most int) error
}) error {
	if app.MaxBytes == 0 {
		return nil
	}
	return document.Limit(app.Reader, app.MaxBytes-len("\n"))
}

// showFields prints the values at template paths: as one object by path, or as text line by line.
func showFields(app *cli.App, run *reader.Run, paths []string) error {
	values, err := run.Fields(paths)
	if err != nil {
		return err
	}
	return app.Document(values, func(w io.Writer) {
		for _, f := range values {
			_, _ = fmt.Fprintf(w, "%s: %s\n", f.Path, template.AsText(f.Value))
		}
	})
}

// writeRun writes a run for people, on a terminal of that many columns, or 0 for another file.
func writeRun(w io.Writer, d *reader.Details, columns int) {
	_, _ = fmt.Fprintf(w, "%s  %s  %s", d.RunID, d.Workflow, d.Status)
	if d.DurationMS != nil {
		_, _ = fmt.Fprint(w, "  ", took(d.DurationMS))
	}
	_, _ = fmt.Fprintln(w)
	for _, line := range [][2]string{{"resumed from", d.ResumedFrom}, {"resumed by", d.ResumedBy}, {"used", d.Usage.String()}, {"spent", spentOf(d)}} {
		if line[1] != "" {
			_, _ = fmt.Fprintf(w, "%s: %s\n", line[0], line[1])
		}
	}
	writeResume(w, d.Status, d.Resume)
	for _, why := range d.Warnings {
		_, _ = fmt.Fprintf(w, "warning: %s\n", why)
	}
	if d.Error != nil && (d.Status != event.Paused || d.ResumedBy != "") { // else it repeats a question, which is below the table
		_, _ = fmt.Fprintf(w, "error: %s%s\n", ofNode(d.Error.Node), strings.Join(d.Error.Lines(), "\n  "))
	}
	writeBrief(w, "inputs", d.Inputs, columns)
	writeBrief(w, "outputs", d.Outputs, columns)
	var table cells.Table
	for _, n := range d.Nodes {
		table.Row(shownState(&n), n.Node, typeOf(n.Type, n.RunsOn), took(n.DurationMS))
	}
	_ = table.Write(w, columns)
	for _, n := range d.Nodes {
		if n.State == string(history.Waiting) {
			_, _ = fmt.Fprintf(w, "%s asks: %s [%s]\n%s", n.Node, n.Question, strings.Join(n.Choices, "/"), shownParams(n.Params, "  "))
		}
	}
}

// shownState returns the state of a node for people. A batch that completed although items of it failed is degraded, as in the report.
func shownState(n *reader.NodeDetails) string {
	if n.State == string(history.Completed) && n.Items != nil && n.Items.Failed > 0 {
		return string(event.Degraded)
	}
	return n.State
}

// typeOf returns the type of a node for people, with the runner that runs it.
func typeOf(kind, runsOn string) string {
	if runsOn == "" {
		return kind
	}
	return kind + " on " + runsOn
}

// took returns a duration for people, or "" if ms is nil.
func took(ms *float64) string {
	if ms == nil {
		return ""
	}
	return history.FormatDuration(time.Duration(*ms * float64(time.Millisecond)))
}

// writeNode writes a node for people, on a terminal of that many columns, or 0 for another file.
func writeNode(w io.Writer, n *reader.NodeDetails, columns int) {
	head := slices.DeleteFunc([]string{n.Node, typeOf(n.Type, n.RunsOn), shownState(n), took(n.DurationMS)}, func(s string) bool { return s == "" })
	_, _ = fmt.Fprintln(w, strings.Join(head, "  "))
	for _, line := range [][2]string{{"items", countsOf(n)}, {"because of", n.Why}, {"reused from", n.FromRun}, {"question", n.Question}, {"answer", n.Answer}} {
		if line[1] != "" {
			_, _ = fmt.Fprintf(w, "%s: %s\n", line[0], line[1])
		}
	}
	if params := shownParams(n.Params, "  "); params != "" {
		label := "ran with"
		if n.State == string(history.Waiting) {
			label = "would run with"
		}
		_, _ = fmt.Fprintf(w, "%s:\n%s", label, params)
	}
	if n.Error != nil {
		_, _ = fmt.Fprintf(w, "error: %s\n", strings.Join(n.Error.Lines(), "\n  "))
	}
	batch := isBatch(n.Outputs)
	if batch {
		writeBatch(w, n.Outputs, columns)
	}
	gjson.ParseBytes(n.Outputs).ForEach(func(name, value gjson.Result) bool {
		if batch && isSummarized(name.Str) {
			return true
		}
		if text := template.AsText(json.RawMessage(value.Raw)); tells(n, name.Str, text) {
			writeValue(w, "", name.Str, text)
		}
		return true
	})
	if batch {
		_, _ = fmt.Fprintln(w, "--format json prints all outputs of all items")
	}
}

// tells reports whether an output says something that is not in the other lines about the node.
func tells(n *reader.NodeDetails, name, text string) bool {
	text = strings.TrimSpace(text)
	switch {
	case text == "", text == "null", strings.HasSuffix(name, "_is_binary") && text == "false":
		return false
	case n.Error != nil && (name == "error" || name == "stderr"):
		return !strings.Contains(n.Error.Message, text)
	}
	return true
}

// spentOf returns what is spent of the budget of a run for people, or "" without a budget.
func spentOf(d *reader.Details) string {
	if d.Budget == nil {
		return ""
	}
	return d.Spent.Of(d.Budget)
}
