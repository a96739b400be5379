package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/library"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/registry"
)

type searchCommand struct {
	Query       string `arg:"" optional:"" help:"Words that all stand in a name, a description or a parameter's name; all there is without."`
	NoWorkflows bool   `help:"Search node types only."`
}

// found is the answer. Workflows is absent when they were not asked for.
type found struct {
	Nodes     []component      `json:"nodes"`
	Workflows *[]foundWorkflow `json:"workflows,omitempty"`
}

// component is a node type with its interface.
type component struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Inputs      []nodetype.Param  `json:"inputs"`
	Outputs     []nodetype.Output `json:"outputs"`
	Actions     []string          `json:"actions"`
}

type foundWorkflow struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Run prints what was found.
func (c *searchCommand) Run(app *cli.App) error {
	lib, types, err := open(app)
	if err != nil {
		return err
	}
	matches, err := types.Search(c.Query)
	if err != nil {
		return err
	}
	answer := found{Nodes: components(matches)}
	if !c.NoWorkflows {
		workflows, err := lib.List(false, c.Query)
		if err != nil {
			return err
		}
		answer.Workflows = usable(workflows)
	}
	return app.Document(answer, answer.text)
}

func components(matches []registry.Match) []component {
	list := make([]component, len(matches))
	for i, m := range matches {
		t := m.Type
		list[i] = component{
			Type: t.Name, Description: t.Description,
			Inputs: append([]nodetype.Param{}, t.Params...), Outputs: append([]nodetype.Output{}, t.Outputs...),
			Actions: append([]string{}, t.Actions...),
		}
	}
	return list
}

// usable leaves out what is broken: it cannot be run.
func usable(workflows []library.Listed) *[]foundWorkflow {
	list := []foundWorkflow{}
	for _, w := range workflows {
		if w.Error == nil {
			list = append(list, foundWorkflow{w.Name, w.Description()})
		}
	}
	return &list
}

func (f found) text(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, n := range f.Nodes {
		_, _ = fmt.Fprintf(t, "%s\tnode\t%s\n", n.Type, n.Description)
	}
	if f.Workflows != nil {
		for _, wf := range *f.Workflows {
			_, _ = fmt.Fprintf(t, "%s\tworkflow\t%s\n", wf.Name, wf.Description)
		}
	}
	_ = t.Flush()
}
