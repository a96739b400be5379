package main

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// The first drafts, in which NAME and DESCRIPTION are replaced.
var (
	//go:embed draft.json
	jsonDraft string
	//go:embed draft.pflow.md
	markdownDraft string
)

type newCommand struct {
	Name        string `arg:"" help:"The draft's name."`
	Description string `help:"What the workflow is for." default:"Say hello"`
	Form        string `help:"The form of the file: json or markdown." enum:"json,markdown" default:"json" placeholder:"FORM"`
}

// Run writes the draft.
func (c *newCommand) Run(app *cli.App) error {
	lib, _, err := open(app)
	if err != nil {
		return err
	}
	text, err := c.text()
	if err != nil {
		return err
	}
	draft, err := lib.Create(app.Context, c.Name, text)
	if err != nil {
		return err
	}
	return app.Document(saved{Success: true, Name: draft.Name, Path: draft.Path}, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "created the draft %s\n\n", draft.Path)
		_, _ = fmt.Fprintf(w, "Change it (see pflow-lib guide), and then\n")
		_, _ = fmt.Fprintf(w, "  pflow-lib check %s\n  pflow-exec run %s\n  pflow-lib save %s %s\n", draft.Name, draft.Name, draft.Name, draft.Name)
	})
}

// text returns the text of the draft, or an error if Markdown would not read the description as one.
func (c *newCommand) text() ([]byte, error) {
	if c.Form == "json" {
		return []byte(strings.Replace(jsonDraft, `"DESCRIPTION"`, string(rawjson.Quote(c.Description)), 1)), nil
	}
	text := []byte(strings.NewReplacer("NAME", c.Name, "DESCRIPTION", c.Description).Replace(markdownDraft))
	file, err := workflow.Parse(c.Name, text)
	if err != nil || file.Workflow.Description != c.Description || len(file.Workflow.Nodes) != 1 {
		return nil, fault.New(fault.Usage, "The description is not plain text in a Markdown file").
			Suggest("Use plain sentences on one line, or --form json")
	}
	return text, nil
}
