package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/progress"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type eventsCommand struct {
	RunID  string `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last." complete:"run"`
	Follow bool   `help:"Go on until the run ends." short:"f"`
	Inline bool   `help:"Replace references to long values by the values, so that the events are complete; lines may get long."`
}

// Run prints a run's events: as NDJSON, or for people as run shows them.
func (c *eventsCommand) Run(app *cli.App) error {
	if app.MaxBytes > 0 {
		return fault.New(fault.Usage, "--max-bytes limits a document, and events is a stream").Suggest("Leave it out")
	}
	if c.Inline && app.Format() == "text" {
		return fault.New(fault.Usage, "--inline and --format text cannot be combined: text has no values").Suggest("Leave out one of them")
	}
	run, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	if !app.JSON() && !c.Inline {
		return c.show(app, run)
	}
	write := func(line []byte) error {
		if c.Inline {
			whole, err := event.Inline(bytes.TrimSuffix(line, []byte("\n")), run.Blob)
			if err != nil {
				return err
			}
			line = append(whole, '\n')
		}
		_, err := app.Stdout.Write(line)
		return err
	}
	last, err := c.each(app, run, write)
	if err != nil || last != nil {
		return err
	}
	status, err := run.Status()
	if err == nil && status == reader.Interrupted {
		app.Warn("Run %s was interrupted: it has no last event", run.ID())
	}
	return err
}

// each calls write with the line of each event. It returns the last event of the run if it has come.
func (c *eventsCommand) each(app *cli.App, run *reader.Run, write func(line []byte) error) (last *event.Event, err error) {
	if c.Follow {
		ctx, cancel := app.WhileRead()
		defer cancel()
		return run.Follow(ctx, write)
	}
	err = run.Events(func(e *event.Event, line []byte) error {
		if e.IsTerminal() {
			last = e
		}
		return write(line)
	})
	return last, err
}

// show shows the events to people: redrawn in place while a run is followed on a terminal, else as lines.
func (c *eventsCommand) show(app *cli.App, run *reader.Run) error {
	draw := c.lines
	if c.Follow && app.Stdout.Terminal() && redraws(app) {
		draw = c.redraw
	}
	last, err := draw(app, run)
	if err != nil || last != nil {
		return err
	}
	status, err := run.Status()
	if err == nil && status == reader.Interrupted {
		_, err = fmt.Fprintln(app.Stdout, status)
	}
	return err
}

// redraw shows what run shows on a terminal.
func (c *eventsCommand) redraw(app *cli.App, run *reader.Run) (last *event.Event, err error) {
	view := liveView(app)
	last, err = c.each(app, run, func(line []byte) error {
		view.apply(line)
		return nil
	})
	view.end()
	if last != nil && last.Status == event.Degraded {
		_, _ = fmt.Fprintln(app.Messages(), progress.Degraded(last))
	}
	return last, err
}

// lines prints a line for each node that has ended.
func (c *eventsCommand) lines(app *cli.App, run *reader.Run) (last *event.Event, err error) {
	var text progress.Lines
	return c.each(app, run, func(line []byte) error {
		var e event.Event
		if json.Unmarshal(line, &e) != nil {
			return nil // an event of another version
		}
		for _, l := range text.Apply(&e) {
			if _, err := fmt.Fprintln(app.Stdout, l); err != nil {
				return err
			}
		}
		return nil
	})
}
