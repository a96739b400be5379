package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type checkCommand struct {
	Workflow string `arg:"" help:"A file, a name, or - for standard input." complete:"workflow"`
	Name     bool   `help:"WORKFLOW is always a name."`
}

// refuse reports the faults of a workflow. The exit status is 2, because nothing was done.
func refuse(app *cli.App, f *fault.Fault) error {
	app.Report(f)
	return cli.Status(2)
}

// verdict is the result for a workflow without faults.
type verdict struct {
	Valid    bool           `json:"valid"`
	Warnings []*fault.Fault `json:"warnings"`
}

// Run prints that the workflow is valid, or fails with all its faults.
func (c *checkCommand) Run(app *cli.App) error {
	debug.SetGCPercent(400) // the process ends before the garbage matters
	lib, types, err := open(app)
	if err != nil {
		return err
	}
	file, entry, form := lib.Open(c.Workflow, c.Name, "", app.ReadArgument)
	if form != nil && file == nil {
		return form
	}
	warnHidden(app, entry)
	report := checked(lib, types, file, form)
	if f := report.Fault(file.Name); f != nil {
		return refuse(app, f)
	}
	v := verdict{Valid: true, Warnings: append([]*fault.Fault{}, report.Warnings...)}
	return app.Document(v, func(w io.Writer) {
		printWarnings(w, v.Warnings, app.Stdout.Columns())
		_, _ = fmt.Fprintf(w, "%s is valid\n", file.Name)
	})
}

// printWarnings prints warnings for people, on a terminal of that many columns, or 0 for another file.
func printWarnings(w io.Writer, warnings []*fault.Fault, columns int) {
	for _, warning := range warnings {
		_, _ = fmt.Fprintf(w, "%swarning: %s\n", warning.Where(), warning.Message)
		cli.WriteExcerpt(w, warning, columns)
		for _, hint := range warning.Suggestions {
			_, _ = fmt.Fprintf(w, "  hint: %s\n", hint)
		}
	}
}
