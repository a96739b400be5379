package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/progress"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// progressView shows people on standard error what a run does.
type progressView struct {
	active  bool
	display *progress.Display
	// continued receives SIGCONT. It is nil if the display is not redrawn in place.
	continued chan os.Signal
}

// newProgressView chooses the display by what standard error is and by what standard output carries: a stream of events
// already shows the progress, and a single output is asked for by a program.
func newProgressView(app *cli.App, stream, singleOutput bool) *progressView {
	terminal, smart := isatty.IsTerminal(app.Stderr.Fd()), redraws(app)
	switch {
	case app.Quiet, stream && app.Stdout.Terminal():
		return &progressView{}
	case smart && !(stream && piped(app.Stdout.File())):
		return liveView(app)
	case smart, terminal && !stream, !app.JSON() && !singleOutput:
		return &progressView{active: true, display: progress.NewPlain(app.Stderr)}
	}
	return &progressView{}
}

// redraws reports whether standard error is a terminal on which a display can be redrawn in place, and people want one.
func redraws(app *cli.App) bool {
	term := app.Getenv("TERM")
	return !app.Quiet && term != "" && term != "dumb" && isatty.IsTerminal(app.Stderr.Fd())
}

// piped reports whether a file leads to another program, which may write to the terminal itself.
func piped(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// liveView returns a display that is redrawn in place on a terminal, with log lines above it.
func liveView(app *cli.App) *progressView {
	v := &progressView{active: true, continued: make(chan os.Signal, 1)}
	v.display = progress.NewLive(app.Stderr, &liveTerminal{file: app.Stderr}, app.Getenv("NO_COLOR") == "")
	app.Log = slog.New(besideHandler{app.Log.Handler(), v.display})
	signal.Notify(v.continued, syscall.SIGCONT) // while the program was stopped, the shell wrote to the terminal
	go func() {
		for range v.continued {
			v.display.Forget()
		}
	}()
	return v
}

// apply shows a line of the journal. It does not wait for the reader of standard error.
func (v *progressView) apply(line []byte) {
	if !v.active {
		return
	}
	var e event.Event
	if json.Unmarshal(line, &e) == nil && e.V == event.Version {
		v.display.Apply(&e)
	}
}

// whileHeld returns ask with the display held, so that the question is the last text on the terminal until it is answered.
func (v *progressView) whileHeld(ask runner.Ask) runner.Ask {
	if ask == nil || !v.active {
		return ask
	}
	return func(ctx context.Context, q engine.Question) (answer, by string, err error) {
		v.display.Hold(q.Node)
		defer v.display.Release()
		return ask(ctx, q)
	}
}

// end shows how the run ended, once. It reports whether it has shown why the run failed.
func (v *progressView) end() bool {
	if !v.active {
		return false
	}
	if v.continued != nil {
		signal.Stop(v.continued)
	}
	return v.display.End()
}

// besideHandler writes log lines beside a display.
type besideHandler struct {
	slog.Handler
	display *progress.Display
}

func (b besideHandler) Handle(ctx context.Context, r slog.Record) (err error) {
	b.display.Beside(func() { err = b.Handler.Handle(ctx, r) })
	return err
}

func (b besideHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return besideHandler{b.Handler.WithAttrs(attrs), b.display}
}

func (b besideHandler) WithGroup(name string) slog.Handler {
	return besideHandler{b.Handler.WithGroup(name), b.display}
}
