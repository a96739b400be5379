package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/run/report"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type reportCommand struct {
	RunID  string `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, last, or - for events on standard input."`
	Output string `short:"o" help:"Write the page to a file, which is replaced in one step." placeholder:"FILE"`
}

// reported is the document of a page that was written to a file.
type reported struct {
	RunID string `json:"run_id,omitempty"`
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
}

// Run writes a run as one HTML page.
func (c *reportCommand) Run(app *cli.App) error {
	h, options, err := c.read(app)
	if err != nil {
		return err
	}
	if c.Output == "" {
		return report.Write(app.Stdout, h, options)
	}
	var page bytes.Buffer
	if err := report.Write(&page, h, options); err != nil {
		return err
	}
	if err := replace(app.Context, c.Output, page.Bytes()); errors.Is(err, context.Canceled) {
		return err
	} else if err != nil {
		return fault.New(fault.Usage, "Cannot write %s: %v", c.Output, fault.Reason(err))
	}
	done := reported{RunID: h.ID(), File: c.Output, Bytes: page.Len()}
	return app.Document(done, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s  %d bytes\n", done.File, done.Bytes) })
}

// read returns the history of the run, and the options of the page that are not in the events.
func (c *reportCommand) read(app *cli.App) (*history.Run, report.Options, error) {
	if c.RunID != "-" {
		run, err := openRun(app, c.RunID)
		if err != nil {
			return nil, report.Options{}, err
		}
		h, status, err := run.History()
		return h, options(run, status), err
	}
	h, err := history.ReadStream(input.Reader(app.Context, app.Stdin), maxEvents)
	if err == nil && h.Started == nil && h.Finished == nil {
		err = fault.New(fault.Usage, "Standard input holds no events of a run").SuggestCommand("Pipe in the output of pflow-exec run --format ndjson, or give the id of a run")
	}
	if err != nil || h.ID() == "" {
		return h, report.Options{}, err
	}
	run, err := openRun(app, h.ID())
	if err != nil || run.ID() != h.ID() {
		return h, report.Options{}, nil //nolint:nilerr // not a run of this home: its events are enough
	}
	status, err := run.Status()
	if err != nil {
		status = ""
	}
	return h, options(run, status), nil
}

// maxEvents is the most bytes of a run's events on standard input that are held in memory.
const maxEvents = 256 << 20

// options returns the options of a page about a run with the given status. One that has ended needs none: its last event
// has the status, and a page of its first events shows none.
func options(run *reader.Run, status event.Status) report.Options {
	o := report.Options{Load: run.Blob}
	switch status {
	case reader.Running:
		o.Status, o.Now = status, time.Now()
	case reader.Interrupted:
		o.Status = status
	}
	return o
}

// replace writes a file in one step, following symbolic links. It writes to anything else, such as a device, directly: a pipe
// without a reader is waited for until ctx ends.
func replace(ctx context.Context, path string, content []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		_, err := input.Wait(ctx, func() (struct{}, error) { return struct{}{}, os.WriteFile(path, content, 0o644) }, func(struct{}) {})
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return renameio.WriteFile(path, content, 0o644)
}
