// Command pflow-lib manages what can be used: drafts, saved workflows, node types and settings.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/nodes/jq"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
)

type grammar struct {
	cli.Common

	List     listCommand     `cmd:"" help:"List the saved workflows." example:"pflow-lib list"`
	Show     showCommand     `cmd:"" fixed:"" help:"Print a workflow's file, or the workflow in the other form." example:"pflow-lib show disk-report"`
	Path     pathCommand     `cmd:"" help:"Print the path of a workflow's file." example:"pflow-lib path disk-report"`
	Describe describeCommand `cmd:"" help:"Describe a workflow: its inputs, outputs, nodes and runs." example:"pflow-lib describe disk-report"`
	Check    checkCommand    `cmd:"" help:"Find everything that is wrong with a workflow, without running it." example:"pflow-lib check disk.json"`
	Graph    graphCommand    `cmd:"" fixed:"" help:"Draw a workflow, or the progress of a run of it." example:"pflow-lib graph disk.json --as mermaid"`
	Search   searchCommand   `cmd:"" aliases:"browse" help:"Search node types and saved workflows." example:"pflow-lib search read a web page"`
	New      newCommand      `cmd:"" help:"Create a first draft, which already runs." example:"pflow-lib new first"`
	Draft    draftCommand    `cmd:"" help:"Write, read, check and delete drafts."`
	Save     saveCommand     `cmd:"" help:"Check a draft and move it to the library." example:"pflow-lib save disk disk-report --description \"Files and size of a folder\""`
	Rename   renameCommand   `cmd:"" help:"Give a saved workflow or a draft another name." example:"pflow-lib rename disk-report disk-usage"`
	Import   importCommand   `cmd:"" help:"Take over workflows, settings and servers of pflow's Python version." example:"pflow-lib import --dry-run"`
	Remove   removeCommand   `cmd:"" help:"Delete a workflow: the saved one of that name, else the draft." example:"pflow-lib remove disk-report"`
	Settings settingsCommand `cmd:"" help:"Show and change the settings: which node types may be used, values for inputs, defaults."`
	Schema   schemaCommand   `cmd:"" fixed:"" help:"Print the JSON Schema of workflow files." example:"pflow-lib schema > workflow.schema.json"`
	Guide    guideCommand    `cmd:"" fixed:"" help:"Print on one page how to write a workflow." example:"pflow-lib guide"`
	Skill    skillCommand    `cmd:"" help:"Print the guide as a skill for agents, or write it to a folder of skills." example:"pflow-lib skill -o ~/.claude/skills"`
}

func main() {
	os.Exit(cli.Main("pflow-lib", "Manage drafts, saved workflows, node types and settings.", &grammar{},
		cli.System{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit, GivesUp: true, Instead: instead(), Values: values}))
}

// open returns the library and the registry of the home.
func open(app *cli.App) (*library.Library, *registry.Registry, error) {
	h, err := app.Home()
	if err != nil {
		return nil, nil, err
	}
	return library.Open(h), registry.Open(h), nil
}

// find returns the workflow of a name, and warns if it hides a draft.
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

// checked checks a workflow and the workflows that it runs.
func checked(lib *library.Library, types *registry.Registry, file *workflow.File, form error) *check.Report {
	report := check.Read(file, form, types, lib.OpenSub, jq.Check)
	clean(report)
	return report
}

// clean redacts in a report what the workflow has under secret names or as the default of a secret input.
func clean(report *check.Report) {
	secrets := redact.New()
	secrets.JSON(report.File.JSON())
	for name, in := range report.File.Workflow.Inputs {
		if in.Secret || redact.SecretName(name) {
			secrets.AddJSON(name, in.Default)
		}
	}
	for _, list := range [][]*fault.Fault{report.Errors, report.Warnings} {
		for i, f := range list {
			list[i] = secrets.Fault(f)
		}
	}
}

func warnHidden(app *cli.App, entry *library.Entry) {
	if entry != nil && entry.Hidden {
		app.Warn("the saved workflow %q hides a draft of the same name", entry.Name)
	}
}
