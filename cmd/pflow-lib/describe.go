package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

type describeCommand struct {
	Name string `arg:"" help:"The workflow's name, or a node type if no workflow has that name."`
}

// description is a workflow's interface.
type description struct {
	Name           string                     `json:"name"`
	Description    string                     `json:"description"`
	Saved          bool                       `json:"saved"`
	Inputs         map[string]input           `json:"inputs"`
	Outputs        map[string]workflow.Output `json:"outputs"`
	TemplateInputs []string                   `json:"template_inputs"`
	Nodes          []node                     `json:"nodes"`
	Statistics     library.Statistics         `json:"statistics"`
	// Warnings say what of it could not be read.
	Warnings []*fault.Fault `json:"warnings,omitempty"`
}

// input is the declaration of an input, completed by its defaults.
type input struct {
	Description string          `json:"description,omitempty"`
	Type        string          `json:"type"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default,omitempty"`
	Stdin       bool            `json:"stdin,omitempty"`
	Secret      bool            `json:"secret,omitempty"`
}

type node struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Purpose string `json:"purpose,omitempty"`
}

// Run prints the interface of the workflow, or of the node type if no workflow has the name.
func (c *describeCommand) Run(app *cli.App) error {
	_, entry, err := find(app, c.Name)
	if err != nil {
		return describeType(app, c.Name, err)
	}
	file, err := entry.Load()
	if err != nil {
		return err
	}
	d := describe(file.Workflow)
	d.Name, d.Saved = entry.Name, entry.Saved
	if d.Statistics, err = entry.Statistics(); err != nil {
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok {
			return err
		}
		d.Warnings = append(d.Warnings, f)
		app.Warn("%s%s", f.Where(), f.Message)
	}
	return app.Document(d, d.text)
}

func describe(w *workflow.Workflow) description {
	d := description{Description: w.Description, Inputs: map[string]input{}, Outputs: map[string]workflow.Output{}, TemplateInputs: []string{}, Nodes: []node{}}
	for name, in := range w.Inputs {
		shown := input{in.Description, in.Type, in.IsRequired(), in.Default, in.Stdin, in.Secret}
		if (in.Secret || redact.SecretName(name)) && in.Default != nil {
			shown.Default = json.RawMessage(`"` + redact.Mark + `"`)
		}
		shown.Default, _ = redact.New().JSON(shown.Default)
		d.Inputs[name] = shown
	}
	maps.Copy(d.Outputs, w.Outputs)
	for i := range w.Nodes {
		n := &w.Nodes[i]
		d.Nodes = append(d.Nodes, node{n.ID, n.Type, n.Purpose})
		d.TemplateInputs = append(d.TemplateInputs, templateInputs(w, n)...)
	}
	slices.Sort(d.TemplateInputs)
	d.TemplateInputs = slices.Compact(d.TemplateInputs)
	return d
}

// templateInputs returns the names in a node's templates that are neither nodes nor defined by the node itself. In a shell
// command, a name that is not an input is a variable of the shell.
func templateInputs(w *workflow.Workflow, n *workflow.Node) (names []string) {
	uses, _ := plan.Uses(n)
	for _, use := range uses {
		name := use.Ref.Root
		_, isInput := w.Inputs[name]
		_, isNode := w.Node(name)
		ofShell := n.Type == "shell" && use.Path == "params.command"
		if isInput || !isNode && !ofShell {
			names = append(names, name)
		}
	}
	return names
}

// harmless returns a function like Fprintf that cleans its texts, which come from others: it puts each on one line and removes
// control sequences.
func harmless(w io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) {
		for i, arg := range args {
			switch text := arg.(type) {
			case string:
				args[i] = cells.Clean(text)
			case json.RawMessage:
				args[i] = cells.Clean(string(text))
			}
		}
		_, _ = fmt.Fprintf(w, format, args...)
	}
}

// text prints the interface for people.
func (d description) text(w io.Writer) {
	p := harmless(w)
	p("%s: %s\n", d.Name, d.Description)
	if len(d.Inputs) > 0 {
		p("inputs:\n")
	}
	for _, name := range slices.Sorted(maps.Keys(d.Inputs)) {
		in := d.Inputs[name]
		need := "optional"
		if in.Required {
			need = "required"
		}
		p("  %s (%s, %s) %s", name, in.Type, need, in.Description)
		if in.Default != nil {
			p(" [%s]", in.Default)
		}
		p("\n")
	}
	if len(d.Outputs) > 0 {
		p("outputs:\n")
	}
	for _, name := range slices.Sorted(maps.Keys(d.Outputs)) {
		p("  %s: %s\n", name, d.Outputs[name].Description)
	}
	p("nodes:\n")
	for _, n := range d.Nodes {
		p("  %s (%s) %s\n", n.ID, n.Type, n.Purpose)
	}
	if s := d.Statistics; s.Runs > 0 {
		p("runs: %d, %d succeeded; the last %s at %s\n", s.Runs, s.Successes, s.LastStatus, s.LastRun.Format("2006-01-02 15:04:05"))
	}
}
