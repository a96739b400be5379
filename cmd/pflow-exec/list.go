package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run"
)

type listCommand struct{}

type listed struct {
	RunID      string       `json:"run_id"`
	Workflow   string       `json:"workflow"`
	Status     event.Status `json:"status"`
	StartedAt  *time.Time   `json:"started_at,omitempty"`
	DurationMS *float64     `json:"duration_ms,omitempty"`
}

// Run lists the runs, the newest first.
func (c *listCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	records, err := run.List(h)
	if err != nil {
		return err
	}
	items := make([]listed, 0, len(records))
	for _, rec := range records {
		item := listed{RunID: rec.ID}
		status, last, err := rec.Status()
		if err != nil {
			app.Log.Warn("a run's journal cannot be read", "run", rec.ID, "error", err)
			continue
		}
		item.Status = status
		if first, _, err := rec.Ends(); err == nil && first != nil && first.Workflow != nil {
			item.Workflow, item.StartedAt = first.Workflow.Name, &first.Time
		}
		if last != nil && last.Ends() {
			item.DurationMS = last.DurationMS
		}
		items = append(items, item)
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
