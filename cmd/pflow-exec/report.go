package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/run/report"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type reportCommand struct {
	RunID  string `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, last, or - for its events on standard input."`
	Output string `short:"o" help:"Write the page into a file, which is replaced in one step." placeholder:"FILE"`
}

// reported is what was written into a file.
type reported struct {
	RunID string `json:"run_id,omitempty"`
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
}

// Run writes a run as one page.
func (c *reportCommand) Run(app *cli.App) error {
	told, options, err := c.read(app)
	if err != nil {
		return err
	}
	if c.Output == "" {
		return report.Write(app.Stdout, told, options)
	}
	var page bytes.Buffer
	if err := report.Write(&page, told, options); err != nil {
		return err
	}
	if err := replace(c.Output, page.Bytes()); err != nil {
		return fault.New(fault.Usage, "Cannot write %s: %v", c.Output, fault.Reason(err))
	}
	done := reported{RunID: told.ID(), File: c.Output, Bytes: page.Len()}
	return app.Document(done, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s  %d bytes\n", done.File, done.Bytes) })
}

// read gives the run that is asked for, and what its events do not tell of it.
func (c *reportCommand) read(app *cli.App) (*history.Run, report.Options, error) {
	if c.RunID != "-" {
		_, rec, err := openRun(app, c.RunID)
		if err != nil {
			return nil, report.Options{}, err
		}
		return recorded(rec, history.Read)
	}
	told, err := history.Read(app.Stdin)
	if err == nil && told.Started == nil && told.Finished == nil {
		err = fault.New(fault.Usage, "There is no run on standard input").Suggest("Give the output of pflow-exec run with --format ndjson, or a run id")
	}
	if err != nil || told.ID() == "" {
		return told, report.Options{}, err
	}
	_, rec, err := openRun(app, told.ID())
	if err != nil || rec.ID != told.ID() {
		return told, report.Options{}, nil //nolint:nilerr // a run from elsewhere: its events are all there is
	}
	return told, options(rec), nil
}

// recorded is a run of this home, as much of it as read reads.
func recorded(rec *journal.Reader, read func(io.Reader) (*history.Run, error)) (*history.Run, report.Options, error) {
	o := options(rec) // asked first: a run that ends meanwhile has its last event
	journal, err := rec.Open()
	if err != nil {
		return nil, o, err
	}
	defer func() { _ = journal.Close() }()
	told, err := read(journal)
	return told, o, err
}

// options are what a record tells besides its events. Of a run that has ended, a beginning of its events may be shown:
// then nobody knows how it stood.
func options(rec *journal.Reader) report.Options {
	o := report.Options{Load: rec.Blob}
	switch status, _, err := rec.Status(); {
	case err != nil:
	case status == journal.Running:
		o.Status, o.Now = status, time.Now()
	case status == journal.Interrupted:
		o.Status = status
	}
	return o
}

// replace writes a file in one step. What is no file, such as a device, is written to.
func replace(path string, content []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, content, 0o644)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return renameio.WriteFile(path, content, 0o644)
}
