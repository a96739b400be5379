package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/catalog/upstream"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodes/jq"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type importCommand struct {
	From   []string `arg:"" optional:"" name:"home-or-file" help:"A home of pflow's Python version, the folder that has it as .pflow, or a workflow's file. Default: ~/.pflow."`
	DryRun bool     `help:"Say what would be taken, and change nothing." short:"n"`
	Force  bool     `help:"Replace what has the same name here."`
}

// Help returns the longer text of --help.
func (importCommand) Help() string {
	return `Takes over workflows, settings and MCP servers of pflow's Python version. The originals stay as they are. Each workflow is checked
and saved in the library under its name, with the files that it refers to and the workflows that it runs. For each item the answer
reports whether it was taken and what differs here. The exit status is 1 if an item was refused or kept.`
}

// imported is the answer.
type imported struct {
	Success bool            `json:"success"`
	DryRun  bool            `json:"dry_run,omitempty"`
	Items   []upstream.Item `json:"items"`
}

// Run takes everything over.
func (c *importCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	if len(c.From) == 0 {
		c.From = []string{filepath.Join(app.Getenv("HOME"), ".pflow")}
	}
	importer := &upstream.Importer{Home: h, Judge: jq.Check, Force: c.Force, Dry: c.DryRun}
	answer := imported{Success: true, DryRun: c.DryRun, Items: []upstream.Item{}}
	for _, from := range c.From {
		var items []upstream.Item
		info, err := os.Stat(from)
		switch {
		case err != nil:
			return fault.Known(fault.NotFound, "FileNotFoundError", "There is no %s", from).Suggest("Name the home of pflow's Python version, usually ~/.pflow, or a workflow's file")
		case info.IsDir():
			if below := filepath.Join(from, ".pflow"); isFolder(below) {
				from = below
			}
			if items, err = importer.Folder(app.Context, from); err == nil && len(items) == 0 {
				err = fault.New(fault.NotFound, "There is nothing to import in %s: neither %s nor %s nor %s", from, "workflows/", "settings.json", "mcp-servers.json")
			}
		default:
			var item upstream.Item
			item, err = importer.File(app.Context, from)
			items = []upstream.Item{item}
		}
		if err != nil {
			return err
		}
		answer.Items = append(answer.Items, items...)
	}
	for _, item := range answer.Items {
		if item.Status == upstream.Refused || item.Status == upstream.Kept {
			answer.Success = false
		}
		if item.Error != nil {
			f := *item.Error
			f.Message = item.Kind + " " + item.Name + ": " + f.Message
			app.Complain(&f)
		}
	}
	if err := app.Document(answer, answer.text); err != nil || answer.Success {
		return err
	}
	return cli.Status(1)
}

// text prints the items for people.
func (a imported) text(w io.Writer) {
	p := harmless(w)
	for _, item := range a.Items {
		p("%s %s: %s\n", item.Kind, item.Name, string(item.Status))
		for _, file := range item.Files {
			p("  with %s\n", file)
		}
		for _, differs := range item.Differs {
			p("  differs: %s\n", differs)
		}
	}
	if a.DryRun {
		_, _ = fmt.Fprintln(w, "nothing was changed")
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
