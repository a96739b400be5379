package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type listCommand struct {
	Workflow string `help:"List only runs of this workflow." placeholder:"NAME"`
	Status   string `help:"List only runs with this status: running, interrupted, completed, degraded, failed, cancelled, timed_out, paused or denied." placeholder:"STATUS"`
	Limit    int    `help:"List at most the newest N." placeholder:"N"`
}

// Run lists runs, newest first.
func (c *listCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	if c.Limit < 0 {
		return fault.New(fault.Usage, "--limit must be at least 1, got %d", c.Limit)
	}
	items := []reader.Summary{}
	for s, err := range reader.Open(h).List(reader.Query{Workflow: c.Workflow, Status: event.Status(c.Status)}) {
		switch {
		case err != nil && s.RunID == "":
			return err
		case err != nil:
			app.Log.Warn("a run's journal cannot be read", "run", s.RunID, "error", err)
			continue
		}
		if items = append(items, s); len(items) == c.Limit {
			break
		}
	}
	return cli.List(app, items, func(w io.Writer) {
		table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		for _, i := range items {
			when := ""
			if i.StartedAt != nil {
				when = i.StartedAt.Local().Format(time.DateTime)
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", i.RunID, i.Status, when, i.Workflow)
		}
		_ = table.Flush()
	})
}
