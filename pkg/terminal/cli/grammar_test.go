package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// grammar is the grammar of a small program.
type grammar struct {
	Common

	Say  sayCommand  `cmd:"" help:"Say a word."`
	Fail failCommand `cmd:"" help:"Fail in some way."`
	List listCommand `cmd:"" help:"List words."`
	Wait waitCommand `cmd:"" help:"Wait for signals."`
	Many manyCommand `cmd:"" help:"Write until the reader is gone."`
	Join joinCommand `cmd:"" aliases:"glue" help:"Join words."`
	Set  setGroup    `cmd:"" help:"Settings."`
}

type setGroup struct {
	Word sayCommand `cmd:"" help:"Set a word."`
}

type joinCommand struct {
	First string   `arg:"" help:"A word."`
	Words []string `arg:"" optional:"" help:"More words."`
	With  string   `help:"What stands between." short:"w" default:","`
	Loud  bool     `help:"In capitals." short:"l" negatable:""`
	Mark  []string `help:"What stands behind."`
}

func (c *joinCommand) Run(app *App) error {
	text := strings.Join(append(append([]string{c.First}, c.Words...), c.Mark...), c.With)
	if c.Loud {
		text = strings.ToUpper(text)
	}
	return app.JSONLine(text)
}

type sayCommand struct {
	Word string `arg:"" help:"The word."`
	Loud bool   `help:"In capitals."`
}

func (c *sayCommand) Run(app *App) error {
	app.Warn("about to say %s", c.Word)
	app.Log.Warn("saying", "word", c.Word)
	return app.Document(map[string]string{"word": c.Word}, func(w io.Writer) { _, _ = fmt.Fprintln(w, "word:", c.Word) })
}

type failCommand struct {
	How string `arg:"" help:"In which way."`
}

func (c *failCommand) Run(app *App) error {
	switch c.How {
	case "status":
		return Status(7)
	case "plain":
		return errors.New("boom")
	case "several":
		return fault.Join(fault.Validation, "w.json", []*fault.Fault{
			(&fault.Fault{Type: fault.Validation, Message: "a <b>", File: "w.json", Line: 3, Column: 4}).Suggest("mend a"), fault.New(fault.Validation, "c").Suggest("mend c"),
		})
	case "alike":
		return fault.Join(fault.Validation, "w.json", []*fault.Fault{fault.New(fault.Template, "a is missing"), fault.New(fault.Template, "b is missing")})
	case "interrupted":
		return fmt.Errorf("while working: %w", Interrupted{syscall.SIGTERM})
	case "cancelled":
		return context.Canceled // of something else than a signal
	}
	return fault.New(fault.Type(c.How), "it is %s", c.How).Suggest("do otherwise")
}

type listCommand struct {
	N int `arg:"" help:"How many."`
}

func (c *listCommand) Run(app *App) error {
	var items []string
	for i := range c.N {
		items = append(items, fmt.Sprint("<", i, ">"))
	}
	return List(app, items, func(w io.Writer) { _, _ = fmt.Fprintln(w, len(items), "items") })
}

// waitCommand sends signals to itself, each after the effect of the one before.
type waitCommand struct {
	Signal int  `arg:"" help:"Which."`
	Twice  bool `help:"The second time too."`
	Then   int  `help:"Another that follows."`
	Hold   bool `help:"Take a hangup as a request."`
}

func (c *waitCommand) Run(app *App) error {
	if c.Hold {
		hangups := Hangups(app)
		for range 3 {
			if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
				return err
			}
			<-hangups
		}
	}
	if err := syscall.Kill(os.Getpid(), syscall.Signal(c.Signal)); err != nil {
		return err
	}
	if c.Then != 0 {
		if err := syscall.Kill(os.Getpid(), syscall.Signal(c.Then)); err != nil {
			return err
		}
	}
	<-app.Context.Done()
	if !c.Twice {
		return app.Context.Err()
	}
	if err := syscall.Kill(os.Getpid(), syscall.Signal(c.Signal)); err != nil {
		return err
	}
	select {} // Exit is called meanwhile
}

type manyCommand struct{}

func (c *manyCommand) Run(app *App) error {
	for {
		if err := app.JSONLine("a line"); err != nil {
			return err
		}
	}
}
