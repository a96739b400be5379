package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type listCommand struct {
	Workflow string `help:"Only runs of this workflow." placeholder:"NAME"`
	Status   string `help:"Only runs that are running, interrupted, or ended so: completed, degraded, failed, cancelled, timed_out, paused, denied." placeholder:"STATUS"`
	Limit    int    `help:"No more than the newest N." placeholder:"N"`
}

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
	if err := c.check(); err != nil {
		return err
	}
	records, err := journal.List(h)
	if err != nil {
		return err
	}
	items := make([]listed, 0, len(records))
	for _, rec := range records {
		if c.Limit > 0 && len(items) == c.Limit {
			break
		}
		item := listed{RunID: rec.ID}
		status, last, err := rec.Status()
		if err != nil && !rec.Exists() {
			continue // it was removed meanwhile
		}
		if err != nil {
			app.Log.Warn("a run's journal cannot be read", "run", rec.ID, "error", err)
			continue
		}
		item.Status = status
		if first, _, err := rec.FirstAndLast(); err == nil && first != nil && first.Workflow != nil {
			item.Workflow, item.StartedAt = first.Workflow.Name, &first.Time
		}
		if last != nil && last.IsTerminal() {
			item.DurationMS = last.DurationMS
		}
		if c.Status != "" && c.Status != string(item.Status) || c.Workflow != "" && c.Workflow != item.Workflow {
			continue
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

// statuses are those that a run can have.
var statuses = []string{
	string(journal.Running), string(journal.Interrupted), string(event.Completed), string(event.Degraded), string(event.Failed), string(event.Cancelled),
	string(event.TimedOut), string(event.Paused), string(event.Denied),
}

func (c *listCommand) check() error {
	if c.Limit < 0 {
		return fault.New(fault.Usage, "--limit must be at least 1")
	}
	if c.Status == "" || slices.Contains(statuses, c.Status) {
		return nil
	}
	f := fault.New(fault.Usage, "No run can be %q", c.Status)
	f.Available = statuses
	if near, ok := fault.Nearest(c.Status, statuses); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f
}
