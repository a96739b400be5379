package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type jobsCommand struct{}

// Run lists the jobs.
func (c *jobsCommand) Run(app *cli.App) error {
	service, stop, err := open(app, false)
	if err != nil {
		return err
	}
	defer stop()
	list, err := service.Jobs(app.Context)
	if err != nil {
		return err
	}
	return cli.List(app, list, func(w io.Writer) {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, j := range list {
			_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", j.JobID, j.Workflow, j.Status, j.CreatedAt.Format(time.RFC3339))
		}
		_ = t.Flush()
	})
}

type cleanupCommand struct{}

// Run removes old jobs.
func (c *cleanupCommand) Run(app *cli.App) error {
	service, stop, err := open(app, false)
	if err != nil {
		return err
	}
	defer stop()
	cleaned, err := service.Cleanup(app.Context)
	if err != nil {
		return err
	}
	return app.Document(cleaned, func(w io.Writer) { _, _ = fmt.Fprintf(w, "deleted %d jobs\n", cleaned.Deleted) })
}
