package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/mattn/go-isatty"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// App is what a command's Run receives: the streams, the environment and the values of the common flags.
type App struct {
	Name   string
	Env    []string
	Stdin  *os.File
	Stdout *Stdout
	Stderr *os.File
	Log    *slog.Logger
	// Quiet suppresses everything except errors on standard error.
	Quiet bool
	// Context is cancelled by the first signal of SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGABRT, with an Interrupted as its cause.
	Context context.Context

	// Reader is who reads what the program prints, from --hints. JSONLine and Complain address it.
	Reader fault.Reader
	// MaxBytes is the most bytes of a document that may be shortened, from --max-bytes. 0 is no limit.
	MaxBytes int

	format string
	cancel context.CancelCauseFunc
	exit   func(int)
	logTo  func(io.Writer) *slog.Logger
	// messages writes to standard error.
	messages io.Writer
	hangups  hangups
	// typed is the command line that was parsed.
	typed commandLine
	// endsWithin is how long the command may take to end after a signal, in nanoseconds, or 0 for any time.
	endsWithin atomic.Int64
	// stdinTaken is set once an argument has read standard input.
	stdinTaken bool
}

func newApp(name string, sys System) *App {
	ctx, cancel := context.WithCancelCause(context.Background())
	a := &App{
		Name: name, Env: sys.Env, Stdin: sys.Stdin, Stdout: newStdout(ctx, sys.Stdout), Stderr: sys.Stderr,
		Context: ctx, cancel: cancel, exit: sys.Exit, format: "auto", Reader: fault.Shell,
	}
	if sys.GivesUp {
		a.EndsWithin(endsWithin)
	}
	a.messages = sys.Stderr
	if isatty.IsTerminal(sys.Stderr.Fd()) {
		a.messages = cells.NewWriter(sys.Stderr)
	}
	a.Log = newLogger(name, a.messages, "warn", "text", false)
	return a
}

func (a *App) configure(c *Common) {
	a.format, a.Quiet, a.Reader, a.MaxBytes = c.Format, c.Quiet, fault.Reader(c.Hints), c.MaxBytes
	a.logTo = func(w io.Writer) *slog.Logger { return newLogger(a.Name, w, c.LogLevel, c.LogFormat, c.Quiet) }
	a.Log = a.logTo(a.messages)
}

// Messages returns a writer of text for people on standard error. On a terminal it writes text that is safe to show, see
// cells.Safe.
func (a *App) Messages() io.Writer { return a.messages }

// LogTo redirects the log from standard error to w.
func (a *App) LogTo(w io.Writer) { a.Log = a.logTo(w) }

// Getenv returns a variable of the environment, or "".
func (a *App) Getenv(name string) string { return process.Getenv(a.Env, name) }

// Home opens the home folder that the environment names. Reads of it that wait end with the app's context.
func (a *App) Home() (*home.Home, error) {
	h, err := home.Open(a.Getenv("PFLOW_HOME"), a.Getenv("HOME"))
	if err != nil {
		return nil, err
	}
	return h.WithContext(a.Context), nil
}

// AtTerminal reports whether a person may be asked, and is taken to have written the command line: standard input and standard error are a
// terminal.
func (a *App) AtTerminal() bool {
	return isatty.IsTerminal(a.Stdin.Fd()) && isatty.IsTerminal(a.Stderr.Fd())
}

// Format returns the value of --format, by default "auto".
func (a *App) Format() string { return a.format }

// JSON reports whether standard output carries JSON: by --format, or by default if it is not a terminal.
func (a *App) JSON() bool {
	switch a.format {
	case "json", "ndjson":
		return true
	case "text":
		return false
	}
	return !a.Stdout.Terminal()
}

// Document prints v as one JSON document or, in text format, what text writes.
func (a *App) Document(v any, text func(w io.Writer)) error {
	if a.JSON() {
		return a.JSONLine(v)
	}
	return a.text(text)
}

// List prints items as NDJSON, with --format json as one array or, in text format, what text writes.
func List[T any](a *App, items []T, text func(w io.Writer)) error {
	switch {
	case !a.JSON():
		return a.text(text)
	case a.format == "json":
		if items == nil {
			items = []T{}
		}
		return a.JSONLine(items)
	}
	var lines []byte
	for i, item := range items {
		raw, err := a.line(item)
		if err != nil {
			return err
		}
		if lines = append(lines, raw...); len(lines) < together && i < len(items)-1 {
			continue
		}
		if _, err := a.Stdout.Write(lines); err != nil {
			return err
		}
		lines = lines[:0]
	}
	return nil
}

// together is the number of bytes from which on List writes the lines that it has.
const together = 32 << 10

// JSONLine writes a value as one line of JSON, in one write. It addresses what is Addressable in the value to the reader, which
// changes it in place.
func (a *App) JSONLine(v any) error {
	line, err := a.line(v)
	if err == nil {
		_, err = a.Stdout.Write(line)
	}
	return err
}

func (a *App) line(v any) ([]byte, error) {
	raw, err := a.addressed(v)
	if err != nil {
		return nil, fault.New(fault.Internal, "cannot write the result as JSON: %v", err)
	}
	return append(raw, '\n'), nil
}

func (a *App) text(write func(w io.Writer)) error {
	var buf bytes.Buffer
	write(&buf)
	_, err := a.Stdout.Write(buf.Bytes())
	return err
}

// Warn writes a warning to standard error unless the app is quiet.
func (a *App) Warn(format string, args ...any) {
	if !a.Quiet {
		_, _ = fmt.Fprintf(a.messages, "%s: warning: %s\n", a.Name, fmt.Sprintf(format, args...))
	}
}
