package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// draftCommand is the group of the commands that touch drafts only, even drafts that saved workflows hide.
type draftCommand struct {
	Write  draftWrite  `cmd:"" help:"Write a draft from standard input or a file, even a faulty one, and check it." example:"pflow-lib draft write disk < disk.json"`
	Read   draftRead   `cmd:"" help:"Print a draft's text, form and place." example:"pflow-lib draft read disk"`
	Check  draftCheck  `cmd:"" help:"Find everything that is wrong with a draft." example:"pflow-lib draft check disk"`
	Delete draftDelete `cmd:"" help:"Delete a draft." example:"pflow-lib draft delete disk"`
}

type draftWrite struct {
	Name string `arg:"" help:"The draft's name." complete:"draft"`
	File string `arg:"" optional:"" default:"-" help:"A file with the workflow; - for standard input, which is the default."`
}

// Run writes the draft and prints what is wrong with it.
func (c *draftWrite) Run(app *cli.App) error {
	debug.SetGCPercent(400) // the process ends before the garbage matters
	if err := home.CheckName("workflow", c.Name); err != nil {
		return err
	}
	lib, types, err := open(app)
	if err != nil {
		return err
	}
	text, err := app.ReadArgument(c.File, workflow.MaxSize)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Type == fault.Validation {
		return fault.New(fault.Validation, "The text of the draft %q has more than %d MiB; nothing was written", c.Name, workflow.MaxSize>>20).
			Suggest("Give long values to the workflow as inputs, or let its nodes read them from files")
	}
	if err != nil {
		return err
	}
	draft, err := lib.Write(app.Context, c.Name, text)
	if err != nil {
		return err
	}
	v := judge(lib, types, draft.Entry)
	v.Replaced = &draft.Replaced
	return v.print(app, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "wrote the draft %s\n", draft.Path)
	})
}

type draftCheck struct {
	Name string `arg:"" help:"The draft's name." complete:"draft"`
}

// Run prints what is wrong with the draft.
func (c *draftCheck) Run(app *cli.App) error {
	debug.SetGCPercent(400)
	lib, types, err := open(app)
	if err != nil {
		return err
	}
	draft, err := lib.Draft(c.Name)
	if err != nil {
		return err
	}
	v := judge(lib, types, draft)
	return v.print(app, func(w io.Writer) {
		if v.Valid {
			_, _ = fmt.Fprintf(w, "%s is valid\n", draft.Name)
		}
	})
}

type draftDelete struct {
	Name string `arg:"" help:"The draft's name." complete:"draft"`
	Form string `help:"Delete only the file of this form." enum:"json,markdown," default:"" placeholder:"json|markdown"`
}

// Run deletes the draft.
func (c *draftDelete) Run(app *cli.App) error {
	lib, _, err := open(app)
	if err != nil {
		return err
	}
	draft, err := lib.RemoveDraft(app.Context, c.Name, c.Form)
	if err != nil {
		return err
	}
	return app.Document(removed{Success: true, Name: draft.Name}, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "removed the draft %s\n", draft.Name)
	})
}
