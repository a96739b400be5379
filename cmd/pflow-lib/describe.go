package main

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/catalog/dependencies"
	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

type describeCommand struct {
	Name  string `arg:"" help:"The workflow's name, or a node type if no workflow has that name." complete:"workflow"`
	Limit int    `help:"Print at most N entries of each list; 0 for all." default:"0" placeholder:"N"`
}

// description is a workflow's interface. The totals are there if a list is not whole.
type description struct {
	Name                string                     `json:"name"`
	Valid               *bool                      `json:"valid,omitempty"`        // false if the workflow has errors, else nil
	ErrorsTotal         int                        `json:"errors_total,omitempty"` // of all errors
	Errors              []*fault.Fault             `json:"errors,omitempty"`       // the first ones
	Description         string                     `json:"description"`
	Saved               bool                       `json:"saved"`
	Inputs              map[string]input           `json:"inputs"`
	InputsTotal         int                        `json:"inputs_total,omitempty"`
	Outputs             map[string]workflow.Output `json:"outputs"`
	OutputsTotal        int                        `json:"outputs_total,omitempty"`
	TemplateInputs      []string                   `json:"template_inputs"`
	TemplateInputsTotal int                        `json:"template_inputs_total,omitempty"`
	Example             *example                   `json:"example,omitempty"`
	Nodes               []node                     `json:"nodes"`
	NodesTotal          int                        `json:"nodes_total,omitempty"`
	Edges               []workflow.Edge            `json:"edges"`
	EdgesTotal          int                        `json:"edges_total,omitempty"`
	Templates           []templated                `json:"templates"`
	TemplatesTotal      int                        `json:"templates_total,omitempty"`
	Dependencies        needs                      `json:"dependencies"`
	Statistics          reader.Statistics          `json:"statistics"`
	// Truncated is true if a text was cut or a list is not whole.
	Truncated bool `json:"truncated,omitempty"`
	// Warnings say what of it could not be read.
	Warnings    []*fault.Fault `json:"warnings,omitempty"`
	Suggestions []string       `json:"suggestions,omitempty"`
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

// templated is a place in a node with templates, and what they refer to.
type templated struct {
	Node  string   `json:"node"`
	Path  string   `json:"path"`
	Reads []string `json:"reads"`
}

// Run prints the interface of the workflow, or of the node type if no workflow has the name.
func (c *describeCommand) Run(app *cli.App) error {
	limits := page.Limits{Bytes: app.MaxBytes, Entries: c.Limit}
	if err := limits.Check(); err != nil {
		return err
	}
	lib, entry, err := find(app, c.Name)
	if err != nil {
		return describeType(app, c.Name, err)
	}
	file, err := entry.Load()
	if err != nil {
		return err
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	d := describe(file.Workflow)
	d.Name, d.Saved = entry.Name, entry.Saved
	if err := d.complete(app, lib, entry, file); err != nil {
		return err
	}
	d.redact(secretsOf(app))
	d.judge(checked(lib, registry.Open(h), file, nil).Errors)
	if !app.JSON() {
		for _, w := range d.Warnings {
			app.Warn("%s%s", w.Where(), w.Message)
		}
	}
	d.limit(limits, app.Reader)
	return app.Document(d, d.text)
}

// redact removes known secrets from the texts that the author has written.
func (d *description) redact(secrets *redact.Redactor) {
	d.Description = secrets.Text(d.Description)
	for name, in := range d.Inputs {
		in.Description = secrets.Text(in.Description)
		in.Default, _ = secrets.JSON(in.Default)
		d.Inputs[name] = in
	}
	for name, out := range d.Outputs {
		out.Description = secrets.Text(out.Description)
		d.Outputs[name] = out
	}
	for i := range d.Nodes {
		d.Nodes[i].Purpose = secrets.Text(d.Nodes[i].Purpose)
	}
}

// shownErrors is the number of errors in a description.
const shownErrors = 3

// judge adds to the description the errors for which the workflow cannot run. There is no example of a call then.
func (d *description) judge(errors []*fault.Fault) {
	if len(errors) == 0 {
		return
	}
	d.Valid, d.ErrorsTotal, d.Example = new(bool), len(errors), nil
	for _, f := range errors[:min(len(errors), shownErrors)] {
		d.Errors = append(d.Errors, f.LimitBytes(maxFault))
	}
}

// complete adds to the description what other files say: the statistics and what the workflow needs. A file that cannot be read is a
// warning.
func (d *description) complete(app *cli.App, lib *library.Library, entry *library.Entry, file *workflow.File) (err error) {
	warn := func(err error) error {
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok {
			return err
		}
		d.Warnings = append(d.Warnings, f)
		return nil
	}
	if d.Statistics, err = entry.Statistics(); err != nil {
		if err := warn(err); err != nil {
			return err
		}
	}
	h, s, err := loadSettings(app)
	if err != nil {
		if err := warn(err); err != nil {
			return err
		}
		s = &settings.Settings{}
	}
	d.Dependencies.List = dependencies.Home{Library: lib, Types: registry.Open(h), Settings: s, Getenv: app.Getenv}.Of(file)
	d.Example = exampleOf(entry.Name, file.Workflow, d.Dependencies.Settings)
	return nil
}

func describe(w *workflow.Workflow) description {
	d := description{
		Description: w.Description, Inputs: map[string]input{}, Outputs: map[string]workflow.Output{}, TemplateInputs: []string{}, Nodes: []node{},
		Edges: append([]workflow.Edge{}, w.AllEdges()...), Templates: []templated{},
	}
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
		d.templatesOf(w, n)
	}
	slices.Sort(d.TemplateInputs)
	d.TemplateInputs = slices.Compact(d.TemplateInputs)
	return d
}

// templatesOf adds the places with templates in a node, and the names in them that are neither nodes nor defined by the node itself. In
// a shell command, a name that is neither an input nor a node is a variable of the shell.
func (d *description) templatesOf(w *workflow.Workflow, n *workflow.Node) {
	uses, _ := plan.Uses(n)
	for _, use := range uses {
		name := use.Ref.Root
		_, isInput := w.Inputs[name]
		_, isNode := w.Node(name)
		if !isInput && !isNode && n.Type == "shell" && use.Path == "params.command" {
			continue
		}
		if isInput || !isNode {
			d.TemplateInputs = append(d.TemplateInputs, name)
		}
		last := len(d.Templates) - 1
		if last < 0 || d.Templates[last].Node != n.ID || d.Templates[last].Path != use.Path {
			d.Templates = append(d.Templates, templated{Node: n.ID, Path: use.Path})
			last++
		}
		if reads := use.Ref.Expression(); !slices.Contains(d.Templates[last].Reads, reads) {
			d.Templates[last].Reads = append(d.Templates[last].Reads, reads)
		}
	}
}
