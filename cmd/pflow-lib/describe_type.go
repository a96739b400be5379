package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/page"
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
	c, err := typeNamed(app, name, f)
	if err != nil {
		return err
	}
	answer := struct {
		component
		Suggestions []string `json:"suggestions,omitempty"`
	}{component: c}
	if app.MaxBytes > 0 && page.Size(c) > app.MaxBytes {
		answer.Suggestions = []string{wholeType(app.Reader)}
		answer.component = c.within(app.MaxBytes - page.Size(answer) + page.Size(c))
	}
	return app.Document(answer, func(w io.Writer) { c.text(w, app.Stdout.Columns()) })
}

// typeNamed returns the node type that a name stands for, in full. If the name stands for nothing, it returns a fault made of unknown.
func typeNamed(app *cli.App, name string, unknown *fault.Fault) (c component, err error) {
	h, err := app.Home()
	if err != nil {
		return c, err
	}
	types := registry.Open(h)
	t, ok, err := types.Type(name)
	if err != nil {
		return c, err
	}
	switch {
	case ok && t.Unregistered:
		return c, fault.New(fault.NotFound, "The tool %q of MCP server %q is not registered: its parameters and outputs are unknown", t.MCP.Tool, t.MCP.Server).
			Then(fault.Step{Do: fault.DoSync, Name: t.MCP.Server}, fault.Step{Do: fault.DoSearch})
	case ok:
		secrets, err := knownSecrets(app)
		if err != nil {
			return c, err
		}
		return componentOf(t, secrets), nil
	}
	if denied := types.Denial(name); denied != nil {
		return c, denied
	}
	return c, nothing(library.Open(h), types, name, unknown)
}

// nothing returns the fault of a name that neither a workflow nor a node type has. It suggests the present name of a workflow that had
// it, or else similar names of both.
func nothing(lib *library.Library, types *registry.Registry, name string, unknown *fault.Fault) error {
	answer := *unknown
	answer.SuggestNothing()
	if unknown.Type == fault.NotFound {
		answer.Message = fmt.Sprintf("There is no workflow and no node type %q", name)
	}
	if library.SuggestPresent(lib, &answer, name) {
		return &answer
	}
	names, _ := types.Names()
	if near, ok := fault.Nearest(name, names); ok {
		answer.Suggest("Did you mean the node type %q?", near)
	}
	if near, ok := fault.Nearest(name, unknown.Available); ok {
		answer.Suggest("Did you mean the workflow %q?", near)
	}
	if len(answer.Suggestions) == 0 {
		answer.Then(fault.Step{Do: fault.DoSearch})
	}
	return &answer
}
