package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type statusCommand struct {
	RunID   string `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last." complete:"run"`
	Outputs bool   `help:"With the outputs of the nodes that have ended and, after its end, those of the run. References replace texts of more than 2,000 characters."`
}

// Run prints how far a run is. Its exit status does not depend on that of the run.
func (c *statusCommand) Run(app *cli.App) error {
	run, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	o, err := run.Overview(c.Outputs)
	if err != nil {
		return err
	}
	if app.MaxBytes > 0 {
		if err := o.Limit(app.Reader, app.MaxBytes-len("\n")); err != nil {
			return err
		}
	}
	return app.Document(o, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s  %s  %s  %d/%d nodes\n", o.RunID, o.Workflow, o.Status, o.Nodes.Completed+o.Nodes.Reused, o.Nodes.Total)
		for _, n := range o.RunningNodes {
			_, _ = fmt.Fprintf(w, "%s has been running for %s%s\n", n.Node, history.FormatDuration(time.Duration(n.DurationMS*float64(time.Millisecond))), said(n.Message))
		}
		for _, q := range o.Questions {
			_, _ = fmt.Fprintf(w, "%s asks: %s [%s]\n", q.Node, q.Text, strings.Join(q.Choices, "/"))
		}
		if o.Budget != nil {
			_, _ = fmt.Fprintf(w, "spent: %s\n", o.Spent.Of(o.Budget))
		}
		for _, why := range o.Warnings {
			_, _ = fmt.Fprintf(w, "warning: %s\n", why)
		}
		if o.Error != nil && len(o.Questions) == 0 { // else it repeats a question
			_, _ = fmt.Fprintf(w, "%s%s\n", ofNode(cmp.Or(o.Failed, o.Error.Node)), strings.Join(o.Error.Lines(), "\n  "))
		}
		if o.ResumedBy != "" {
			_, _ = fmt.Fprintf(w, "resumed by: %s\n", o.ResumedBy)
		}
		writeResume(w, o.Status, o.Resume)
	})
}

// writeResume writes the command that goes on from a run, if there is one.
func writeResume(w io.Writer, status event.Status, command string) {
	switch {
	case command == "":
	case status == event.Paused:
		_, _ = fmt.Fprintf(w, "answer with: %s --approve ANSWER\n", command)
	default:
		_, _ = fmt.Fprintf(w, "go on with: %s\n", command)
	}
}

// ofNode returns the beginning of a message about a node, or "" for one about the whole run.
func ofNode(node string) string {
	if node == "" {
		return ""
	}
	return "node " + node + ": "
}

// said returns what a node has said last, after a colon.
func said(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}
