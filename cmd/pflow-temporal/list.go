package main

import (
	"fmt"
	"io"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type listCommand struct {
	Limit int `help:"List at most the newest N; 0 is no limit." default:"100" placeholder:"N"`
	clusterFlags
}

// listed is a run in a list.
type listed struct {
	RunID      string       `json:"run_id"`
	Workflow   string       `json:"workflow"`
	Status     event.Status `json:"status"`
	StartedAt  time.Time    `json:"started_at"`
	DurationMS *int64       `json:"duration_ms,omitempty"`
}

// Run lists the runs of the namespace, newest first.
func (c *listCommand) Run(app *cli.App) error {
	to, err := c.connect(app.Context, app)
	if err != nil {
		return err
	}
	defer to.Close()
	states, err := to.List(app.Context, c.Limit)
	if err != nil {
		return err
	}
	var items []listed
	for _, s := range states {
		l := listed{RunID: s.ID, Workflow: s.Workflow, Status: s.Status, StartedAt: s.Started}
		if !s.Ended.IsZero() {
			ms := s.Ended.Sub(s.Started).Milliseconds()
			l.DurationMS = &ms
		}
		items = append(items, l)
	}
	return cli.List(app, items, func(w io.Writer) {
		for _, l := range items {
			_, _ = fmt.Fprintln(w, l.RunID, l.Workflow, l.Status, l.StartedAt.Local().Format(time.DateTime))
		}
	})
}
