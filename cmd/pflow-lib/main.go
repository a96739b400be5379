// Command pflow-lib says what can be used: drafts, saved workflows and node types.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/library"
	"github.com/pflow-suite/pflow/pkg/registry"
)

type grammar struct {
	cli.Common

	List     listCommand     `cmd:"" help:"List the saved workflows."`
	Show     showCommand     `cmd:"" help:"Print a workflow's file as it is."`
	Describe describeCommand `cmd:"" help:"Describe a workflow: its inputs, outputs, nodes and runs."`
	Check    checkCommand    `cmd:"" help:"Find everything that is wrong with a workflow, without running it."`
	Search   searchCommand   `cmd:"" aliases:"browse" help:"Search node types and saved workflows."`
	Save     saveCommand     `cmd:"" help:"Check a draft and move it into the library."`
	Remove   removeCommand   `cmd:"" help:"Delete a workflow: the saved one of that name, else the draft."`
}

func main() {
	os.Exit(cli.Main("pflow-lib", "What can be used: drafts, saved workflows and node types.", &grammar{},
		cli.System{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit}))
}

// open gives the library and the registry of the home that the environment names.
func open(app *cli.App) (*library.Library, *registry.Registry, error) {
	h, err := app.Home()
	if err != nil {
		return nil, nil, err
	}
	return library.Open(h), registry.Open(h), nil
}

// find gives the workflow of a name, and warns when it hides a draft.
func find(app *cli.App, name string) (*library.Library, *library.Entry, error) {
	lib, _, err := open(app)
	if err != nil {
		return nil, nil, err
	}
	entry, err := lib.Find(name)
	if err != nil {
		return nil, nil, err
	}
	warnHidden(app, entry)
	return lib, entry, nil
}

func warnHidden(app *cli.App, entry *library.Entry) {
	if entry != nil && entry.Hidden {
		app.Warn("the saved workflow %q hides a draft of the same name", entry.Name)
	}
}
