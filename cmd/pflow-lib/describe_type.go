package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/registry"
)

// describeType prints a node type's interface. Where there is no such type either, it is the workflow that was not found:
// the fault given.
func describeType(app *cli.App, name string, unknown error) error {
	f := fault.From(unknown)
	if f.Type != fault.NotFound && f.Type != fault.Validation { // the name of a node type need not be one of a workflow
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
	if ok && !t.Assumed {
		c := componentOf(t)
		return app.Document(c, c.text)
	}
	answer := *f
	if names, err := types.Names(); err == nil {
		if near, ok := fault.Nearest(name, names); ok {
			answer.Suggestions = append(slices.Clone(f.Suggestions), fmt.Sprintf("Did you mean the node type %q?", near))
		}
	}
	return &answer
}

// text is the interface for people.
func (c component) text(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(t, format, args...) }
	p("%s: %s\n", c.Type, c.Description)
	if len(c.Inputs) > 0 {
		p("parameters:\n")
	}
	for _, in := range c.Inputs {
		need := "optional"
		if in.Required {
			need = "required"
		}
		p("  %s\t%s\t%s\t%s%s\n", in.Name, in.Type, need, oneLine(in.Description), extras(in.Default, in.Enum))
	}
	if len(c.Outputs) > 0 {
		p("outputs:\n")
	}
	for _, out := range c.Outputs {
		p("  %s\t%s\t\t%s\n", out.Name, out.Type, oneLine(out.Description))
	}
	p("actions: %s\n", strings.Join(c.Actions, ", "))
	_ = t.Flush()
}

// extras are a parameter's default and the only values that it may have.
func extras(standard, enum json.RawMessage) (text string) {
	if standard != nil {
		text += fmt.Sprintf(" [%s]", standard)
	}
	if enum != nil {
		text += fmt.Sprintf(" (one of %s)", enum)
	}
	return text
}

// oneLine keeps a description in its row.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
