package main

import (
	"fmt"
	"io"
	"time"

	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type statusCommand struct {
	RunID string `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last."`
}

// Run prints how far a run is. Its exit status does not depend on that of the run.
func (c *statusCommand) Run(app *cli.App) error {
	run, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	o, err := run.Overview()
	if err != nil {
		return err
	}
	return app.Document(o, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s  %s  %s  %d/%d nodes\n", o.RunID, o.Workflow, o.Status, o.Nodes.Completed+o.Nodes.Reused, o.Nodes.Total)
		for _, n := range o.RunningNodes {
			_, _ = fmt.Fprintf(w, "%s has been running for %s\n", n.Node, history.FormatDuration(time.Duration(n.DurationMS*float64(time.Millisecond))))
		}
		if o.Error != nil {
			_, _ = fmt.Fprintf(w, "%s: %s\n", o.Failed, o.Error.Message)
		}
		if o.Resume != "" {
			_, _ = fmt.Fprintf(w, "go on with: %s\n", o.Resume)
		}
	})
}
