package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// overviewOf returns the document of a run.
func overviewOf(s *cluster.State) (*reader.Overview, error) {
	h, load, err := s.Outline()
	if err != nil {
		return nil, err
	}
	if s.Live() {
		h.Finished = nil // of an execution that was interrupted
	}
	o, err := reader.OverviewOf(h, s.Status, load)
	if err != nil {
		return nil, err
	}
	o.RunID, o.Workflow, o.StartedAt, o.ResumedFrom = s.ID, s.Workflow, &s.Started, ""
	if !s.Ended.IsZero() {
		o.EndedAt = &s.Ended
	}
	if s.Fault != nil {
		o.Error = s.Fault
	}
	o.Error = ofCluster(s, o.Error)
	o.ResumeBy(resumption(s))
	return o, nil
}

type statusCommand struct{ runArgument }

// Run prints how far a run is.
func (c *statusCommand) Run(app *cli.App) error {
	to, s, err := c.state(app)
	if err != nil {
		return err
	}
	defer to.Close()
	o, err := overviewOf(s)
	if err != nil {
		return err
	}
	return app.Document(o, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s %s: %s, %d of %d nodes completed\n", o.RunID, o.Workflow, o.Status, len(o.Completed), o.Nodes.Total)
	})
}
