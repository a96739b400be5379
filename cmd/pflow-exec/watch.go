package main

import (
	"encoding/json"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/progress"
	"github.com/pflow-suite/pflow/pkg/run/watch"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type watchCommand struct {
	Since *string `help:"Print the events of the runs whose id is greater than RUN too, also of those that have ended. RUN need not exist; last stands for the newest run." placeholder:"RUN" complete:"run"`
}

// Help returns the longer text of --help.
func (watchCommand) Help() string {
	return `Prints the events of all live runs from their beginning, then those of all runs that begin later, until it is stopped. Each line is
one of a run's journal; run and seq identify it. A run whose process was killed ends with a line run_interrupted.

  pflow-exec watch | jq -r 'select(.event=="run_finished") | .run + " " + .status'

To go on where a stream was cut off, remember the newest run up to which all runs have ended in it, and give that as --since. What
has been seen comes again, with the same run and seq.`
}

// Run prints the events of all runs: as NDJSON, or for people as lines with the run's id and the name of its workflow.
func (c *watchCommand) Run(app *cli.App) error {
	if app.MaxBytes > 0 {
		return fault.New(fault.Usage, "--max-bytes limits a document, and watch is a stream").Suggest("Leave it out")
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	write := func(line []byte) error {
		_, err := app.Stdout.Write(line)
		return err
	}
	if !app.JSON() {
		write = (&watchText{app, map[string]*progress.Lines{}}).write
	}
	ctx, cancel := app.WhileRead()
	defer cancel()
	return watch.Follow(ctx, h, watch.Options{Since: c.Since, Warn: app.Warn, Line: write})
}

// watchText prints the events of all runs for people.
type watchText struct {
	app *cli.App
	// runs are those that have not ended.
	runs map[string]*progress.Lines
}

func (t *watchText) write(line []byte) error {
	var e event.Event
	if json.Unmarshal(line, &e) != nil {
		return nil // an event of another version
	}
	run := t.runs[e.Run]
	if run == nil {
		run = &progress.Lines{}
		t.runs[e.Run] = run
	}
	lines := run.Apply(&e)
	if e.IsTerminal() || e.Event == event.RunInterrupted {
		delete(t.runs, e.Run)
	}
	if e.Event == event.RunStarted { // this line names both
		return t.print("", lines)
	}
	return t.print(fmt.Sprintf("%s %s: ", e.Run, run.Workflow()), lines)
}

func (t *watchText) print(prefix string, lines []string) error {
	for _, l := range lines {
		if _, err := fmt.Fprintln(t.app.Stdout, prefix+l); err != nil {
			return err
		}
	}
	return nil
}
