package main

import (
	"slices"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/graph"
)

type graphCommand struct {
	Workflow string `arg:"" help:"A file, a name, or - for standard input." complete:"workflow"`
	Name     bool   `help:"WORKFLOW is always a name."`
	As       string `help:"The output: mermaid, dot, svg or text." enum:"mermaid,dot,svg,text" default:"text" placeholder:"FORM"`
	RunID    string `name:"run" help:"Show the progress of a run: its id, the beginning of an id, or last." placeholder:"RUN" complete:"run"`
}

// Run draws the workflow, even one with faults.
func (c *graphCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	file, entry, err := library.Open(h).Open(c.Workflow, c.Name, "", app.ReadArgument)
	if err != nil {
		return err
	}
	warnHidden(app, entry)
	g := graph.New(file.Workflow)
	if c.RunID != "" {
		if err := mark(app, h, g, c.RunID, file.Workflow); err != nil {
			return err
		}
	}
	switch c.As {
	case "mermaid":
		return g.Mermaid(app.Stdout)
	case "dot":
		return g.Dot(app.Stdout)
	case "svg":
		return g.SVG(app.Stdout)
	}
	return g.Text(app.Stdout)
}

// mark applies the events of a run, and warns if the run had other nodes.
func mark(app *cli.App, h *home.Home, g *graph.Graph, ref string, w *workflow.Workflow) error {
	run, err := reader.Open(h).Find(ref)
	if err != nil {
		return err
	}
	return run.Events(func(e *event.Event, _ []byte) error {
		if e.Event == event.RunStarted && !slices.Equal(e.Nodes, w.NodeIDs()) {
			app.Warn("run %s is of a workflow with other nodes; its progress is shown on nodes with the same ids", run.ID())
		}
		g.Apply(e)
		return nil
	})
}
