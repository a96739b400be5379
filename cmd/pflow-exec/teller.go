package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/progress"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// teller tells people on standard error what a run does.
type teller struct {
	active  bool
	display *progress.Display
	// cont hears that the program goes on after it was stopped; nil without a terminal.
	cont chan os.Signal
}

// newTeller says how people are told, by what standard error is and what standard output carries: the events, which tell
// all themselves, or one document or output alone, for which a program asks.
func newTeller(app *cli.App, stream, alone bool) *teller {
	terminal := isatty.IsTerminal(app.Stderr.Fd())
	smart := terminal && app.Getenv("TERM") != "" && app.Getenv("TERM") != "dumb"
	switch {
	case app.Quiet, stream && app.Stdout.Terminal():
		return &teller{}
	case smart && !(stream && piped(app.Stdout.File())):
		return liveTeller(app)
	case smart, terminal && !stream, !app.JSON() && !alone: // a program that asks for JSON is told there
		return &teller{active: true, display: progress.NewPlain(app.Stderr)}
	}
	return &teller{}
}

// piped says whether a file leads to another program, which may write to the terminal whatever it reads.
func piped(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// liveTeller tells on a terminal, in place. Log lines get out of its way.
func liveTeller(app *cli.App) *teller {
	t := &teller{active: true, cont: make(chan os.Signal, 1)}
	t.display = progress.NewLive(app.Stderr, func() (width, height int) { return room(app.Stderr) }, app.Getenv("NO_COLOR") == "")
	app.Log = slog.New(beside{app.Log.Handler(), t.display})
	signal.Notify(t.cont, syscall.SIGCONT) // after a stop the shell has written on the terminal
	go func() {
		for range t.cont {
			t.display.Forget()
		}
	}()
	return t
}

// room is how many columns and rows a terminal has: no rows while another program is in the foreground.
func room(f *os.File) (width, height int) {
	fd := int(f.Fd())
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && group != unix.Getpgrp() {
		return 80, 0
	}
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 80, 24
	}
	return int(size.Col), int(size.Row)
}

// tell takes a line of the journal. It does not wait for whoever reads standard error.
func (t *teller) tell(line []byte) {
	if !t.active {
		return
	}
	var e event.Event
	if json.Unmarshal(line, &e) == nil && e.V == event.Version {
		t.display.Apply(&e)
	}
}

// asking is how a person is asked, with the question alone at the end of what stands on the terminal.
func (t *teller) asking(ask func(context.Context, engine.Question) (answer, by string, err error)) func(context.Context, engine.Question) (answer, by string, err error) {
	if ask == nil || !t.active {
		return ask
	}
	return func(ctx context.Context, q engine.Question) (answer, by string, err error) {
		t.display.Hold(q.Node)
		defer t.display.Release()
		return ask(ctx, q)
	}
}

// end says how the run ended, once. It is true when it has said all that there is to say about a failure.
func (t *teller) end() bool {
	if !t.active {
		return false
	}
	if t.cont != nil {
		signal.Stop(t.cont)
	}
	return t.display.End()
}

// beside is a log that is written beside a display.
type beside struct {
	slog.Handler
	display *progress.Display
}

func (b beside) Handle(ctx context.Context, r slog.Record) (err error) {
	b.display.Beside(func() { err = b.Handler.Handle(ctx, r) })
	return err
}

func (b beside) WithAttrs(attrs []slog.Attr) slog.Handler {
	return beside{b.Handler.WithAttrs(attrs), b.display}
}

func (b beside) WithGroup(name string) slog.Handler {
	return beside{b.Handler.WithGroup(name), b.display}
}
