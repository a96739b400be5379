package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/install"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type installCommand struct {
	Client   string `arg:"" help:"The client: claude-code, codex, gemini, claude-desktop, cursor or vscode." complete:"client"`
	Print    bool   `help:"Print what to add to which file, and run nothing."`
	Toolsets string `help:"The toolsets that the client's server has, separated by commas. Default: those of PFLOW_TOOLSETS, else core." env:"PFLOW_TOOLSETS" placeholder:"TOOLSET,…" complete:"toolset"`
	Scope    string `help:"Add it for you in all projects (user, the default), or for everyone in the project of the working directory (project)." enum:"user,project" default:"user" placeholder:"user|project"`
}

// Help returns more text for --help.
func (installCommand) Help() string {
	return `If the client has a command that adds servers, and its program is on PATH, that command is run. Otherwise, and with --print, the path
of the client's configuration file and what to add to it are printed. No file is written by pflow-serve itself. If PFLOW_HOME is set, the
client's server gets it too.`
}

// installation is the result. Installed is true if the client's own command has added the server; Command is that command, if the client
// has one.
type installation struct {
	Success   bool     `json:"success"`
	Client    string   `json:"client"`
	Installed bool     `json:"installed"`
	Command   []string `json:"command,omitempty"`
	File      string   `json:"file"`
	Snippet   string   `json:"snippet"`
}

// Run adds the server, or prints how to.
func (c *installCommand) Run(app *cli.App) error {
	server, err := c.server(app)
	if err != nil {
		return err
	}
	steps, err := install.For(c.Client, c.Scope, server, app.Env, runtime.GOOS)
	if err != nil {
		return err
	}
	done := installation{Success: true, Client: c.Client, Command: steps.Command, File: steps.File, Snippet: steps.Snippet}
	if !c.Print {
		app.EndsWithin(time.Minute)
		done.Installed, err = steps.Run(app.Context, app.Env)
	}
	if err != nil {
		return c.byHand(app, steps, err)
	}
	return app.Document(done, func(w io.Writer) {
		if done.Installed {
			_, _ = fmt.Fprintf(w, "%s has pflow now: %s\n", c.Client, install.Line(steps.Command))
			return
		}
		printSteps(w, steps)
	})
}

// server returns how a client should start this program.
func (c *installCommand) server(app *cli.App) (install.Server, error) {
	running, err := os.Executable()
	if err != nil {
		return install.Server{}, fault.New(fault.Internal, "Cannot find the path of this program: %v", err)
	}
	s := install.Server{Name: "pflow", Command: install.Executable(os.Args[0], running, app.Env)}
	if c.Toolsets != "" {
		names, err := suitetools.ParseToolsets(c.Toolsets)
		if err != nil {
			return s, err
		}
		s.Args = []string{"--toolsets=" + strings.Join(names, ",")}
	}
	if app.Getenv("PFLOW_HOME") != "" {
		h, err := app.Home()
		if err != nil {
			return s, err
		}
		s.Env = map[string]string{"PFLOW_HOME": h.Dir()}
	}
	return s, nil
}

// byHand returns the error of a client's command that failed, with what to do in its place.
func (c *installCommand) byHand(app *cli.App, steps *install.Steps, err error) error {
	if app.Context.Err() != nil {
		return err
	}
	if !app.JSON() {
		printSteps(app.Messages(), steps)
	}
	return fault.From(err).Detail("file", steps.File).Detail("snippet", steps.Snippet).
		Then(fault.Command("See how to add it by hand", "pflow-serve install %s --print", c.Client))
}

// printSteps prints how to add the server by hand.
func printSteps(w io.Writer, steps *install.Steps) {
	_, _ = fmt.Fprintf(w, "Add this to %s:\n\n%s\n", steps.File, strings.TrimSuffix(steps.Snippet, "\n"))
	if steps.Command != nil {
		_, _ = fmt.Fprintf(w, "\nor run:\n\n%s\n", install.Line(steps.Command))
	}
}
