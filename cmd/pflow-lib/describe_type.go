package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// describeType prints the interface of a node type. If there is no such type either, it returns a fault made of unknown, the
// fault of finding no workflow of that name.
func describeType(app *cli.App, name string, unknown error) error {
	f := fault.From(unknown)
	if f.Type != fault.NotFound && f.Type != fault.Validation { // a node type's name may be invalid for a workflow
		return unknown
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	types := registry.Open(h)
	t, ok, err := types.Type(name)
	if err != nil {
		return err
	}
	switch {
	case ok && t.Unregistered:
		return fault.New(fault.NotFound, "The tool %q of MCP server %q is not registered: its parameters and outputs are unknown", t.MCP.Tool, t.MCP.Server).
			Suggest("pflow-sync sync %s registers the tools of the server", t.MCP.Server).
			Suggest("pflow-lib search lists all node types")
	case ok:
		secrets, err := knownSecrets(app)
		if err != nil {
			return err
		}
		c := componentOf(t, secrets)
		return app.Document(c, c.text)
	}
	if denied := types.Denial(name); denied != nil {
		return denied
	}
	return nothing(types, name, f)
}

// nothing returns the fault of a name that neither a workflow nor a node type has. It suggests similar names of both.
func nothing(types *registry.Registry, name string, unknown *fault.Fault) error {
	answer := *unknown
	answer.SuggestNothing()
	if unknown.Type == fault.NotFound {
		answer.Message = fmt.Sprintf("There is no workflow and no node type %q", name)
	}
	names, _ := types.Names()
	if near, ok := fault.Nearest(name, names); ok {
		answer.Suggest("Did you mean the node type %q?", near)
	}
	if near, ok := fault.Nearest(name, unknown.Available); ok {
		answer.Suggest("Did you mean the workflow %q?", near)
	}
	if len(answer.Suggestions) == 0 {
		answer.Suggest("To find node types and saved workflows: pflow-lib search WORDS")
	}
	return &answer
}

// text prints the interface for people.
func (c component) text(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	p := harmless(t)
	p("%s: %s\n", c.Type, c.Description)
	if len(c.Inputs) > 0 {
		p("parameters:\n")
	}
	for _, in := range c.Inputs {
		need := "optional"
		if in.Required {
			need = "required"
		}
		p("  %s\t%s\t%s\t%s\n", in.Name, in.Type, need, in.Description+extras(in.Default, in.Enum))
	}
	if len(c.Outputs) > 0 {
		p("outputs:\n")
	}
	for _, out := range c.Outputs {
		p("  %s\t%s\t\t%s\n", out.Name, out.Type, out.Description)
	}
	p("actions: %s\n", strings.Join(c.Actions, ", "))
	_ = t.Flush()
}

// extras returns a parameter's default and its permitted values, as text.
func extras(standard, enum json.RawMessage) (text string) {
	if standard != nil {
		text += fmt.Sprintf(" [%s]", standard)
	}
	if enum != nil {
		text += fmt.Sprintf(" (one of %s)", enum)
	}
	return text
}
