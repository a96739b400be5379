package main

import (
	"bytes"
	"cmp"
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
	RunID    string   `arg:"" name:"run" optional:"" help:"A run's id, a prefix of it that no other run has, last, or - for events on standard input." complete:"run"`
	Output   string   `short:"o" help:"Write to a file, which is replaced in one step." placeholder:"FILE"`
	Fragment bool     `xor:"part" help:"Write an HTML element without style and scripts, with buttons, for a page of your own."`
	Style    bool     `xor:"part" help:"Write the style sheet for fragments instead of a run."`
	Script   bool     `xor:"part" help:"Write the script for fragments instead of a run: filters, keys, changes in place."`
	App      bool     `xor:"part" help:"Write the page of the MCP App, which shows a run in a client, instead of a run."`
	Tools    []string `help:"With --app: the tools of the server that its buttons may call, of execute, run_resume and run_cancel." placeholder:"TOOL,…" enum:"execute,run_resume,run_cancel"`
}

// Help is shown by --help.
func (c *reportCommand) Help() string {
	return `Writes a self-contained page. With --max-bytes less of a long run is shown, so that the page or the fragment has at most that many bytes.

The buttons of a fragment have the attribute data-action, for the script of the page that shows it: cancel, resume, and answer with data-node
and its value. The element itself has data-run, data-workflow, data-status, and data-live while the run goes on.`
}

// reported is the document of a page that was written to a file.
type reported struct {
	RunID string `json:"run_id,omitempty"`
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
}

// Run writes a run as HTML, or what pages that show fragments need.
func (c *reportCommand) Run(app *cli.App) error {
	run, write, err := c.writer(app)
	if err != nil {
		return err
	}
	if c.Output == "" && app.Stdout.Terminal() {
		return fault.New(fault.Usage, "A report is HTML, which a terminal does not show").
			Then(fault.Command("Write it to a file", "pflow-exec report %s --output report.html", cmp.Or(c.RunID, "…")), fault.Step{Do: fault.DoShow, Run: cmp.Or(c.RunID, "RUN")})
	}
	if c.Output == "" {
		return write(app.Stdout)
	}
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	if err := replace(app.Context, c.Output, page.Bytes()); errors.Is(err, context.Canceled) {
		return err
	} else if err != nil {
		return fault.New(fault.Usage, "Cannot write %s: %v", c.Output, fault.Reason(err))
	}
	done := reported{RunID: run, File: c.Output, Bytes: page.Len()}
	return app.Document(done, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s  %d bytes\n", done.File, done.Bytes) })
}

// writer returns what writes the output, and the id of the run in it.
func (c *reportCommand) writer(app *cli.App) (run string, write func(io.Writer) error, err error) {
	if len(c.Tools) > 0 && !c.App {
		return "", nil, fault.New(fault.Usage, "--tools is for the page of --app").Suggest("Add --app, or leave out --tools")
	}
	if c.Style || c.Script || c.App {
		switch {
		case c.RunID != "":
			return "", nil, fault.New(fault.Usage, "--style, --script and --app write no run, got %q", c.RunID).Suggest("Leave out the run, or write it with --fragment")
		case app.MaxBytes > 0:
			return "", nil, fault.New(fault.Usage, "--max-bytes limits what is shown of a run, and --style, --script and --app show none").Suggest("Leave it out")
		case c.App:
			return "", func(w io.Writer) error { return report.WriteApp(w, c.Tools) }, nil
		}
		part := report.Style()
		if c.Script {
			part = report.Script()
		}
		return "", func(w io.Writer) error {
			_, err := io.WriteString(w, part)
			return err
		}, nil
	}
	if c.RunID == "" {
		return "", nil, fault.New(fault.Usage, "Which run is to be reported?").Suggest("Give the id of a run, last for the newest, or - for events on standard input")
	}
	h, options, err := c.read(app)
	if err != nil {
		return "", nil, err
	}
	options.MaxBytes = app.MaxBytes
	write = func(w io.Writer) error { return report.Write(w, h, options) }
	if c.Fragment {
		write = func(w io.Writer) error { return report.WriteFragment(w, h, options) }
	}
	return h.ID(), write, nil
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
		err = fault.New(fault.Usage, "Standard input holds no events of a run").Suggest("Pipe in the events of a run, or give its id").Then(fault.Command("Print the events of a run", "pflow-exec events RUN"))
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

// options returns the options of a page about a run with the given status. The status of a run that has ended is in its last event, and a
// page of its first events shows none.
func options(run *reader.Run, status event.Status) report.Options {
	o := report.Options{RunID: run.ID(), Load: run.Blob, ResumedBy: run.Successor()}
	switch status {
	case reader.Running, reader.Queued:
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
