package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// dryRun prints what a request would do.
func dryRun(app *cli.App, host *runner.Host, r *runner.Request) error {
	l, err := runner.Resolve(app.Context, host, r)
	if err != nil {
		return refuse(app, err, false)
	}
	defer l.Release()
	d, err := l.DryRun(app.Context)
	if err != nil {
		return refuse(app, err, false)
	}
	return app.Document(d, func(w io.Writer) {
		if d.Attach != "" {
			_, _ = fmt.Fprintf(w, "would attach to the live run %s\n", d.Attach)
			return
		}
		var table cells.Table
		for _, n := range d.Nodes {
			row := []string{string(n.Would), n.Node, n.Type, ""}
			if len(n.After) > 0 {
				row[3] = "after " + strings.Join(n.After, ", ")
			}
			if n.Because != "" && n.Because != row[3] {
				row = append(row, n.Because)
			}
			table.Row(row...)
		}
		_ = table.Write(w, app.Stdout.Columns())
		for _, n := range d.Nodes {
			if n.Why != "" {
				_, _ = fmt.Fprintln(w, n.Why)
			}
		}
	})
}
