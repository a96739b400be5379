package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type listCommand struct {
	Pattern string `arg:"" optional:"" help:"Words that the name or the description must contain, or a name with * and ?."`
	Drafts  bool   `help:"List the drafts too."`
}

// listed is one workflow in the list.
type listed struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Saved       bool         `json:"saved"`
	Hidden      bool         `json:"hidden,omitempty"`
	CreatedAt   time.Time    `json:"created_at,omitzero"`
	UpdatedAt   time.Time    `json:"updated_at,omitzero"`
	Version     string       `json:"version,omitempty"`
	Error       *fault.Fault `json:"error,omitempty"`
}

// Run prints the list.
func (c *listCommand) Run(app *cli.App) error {
	lib, _, err := open(app)
	if err != nil {
		return err
	}
	found, err := lib.List(c.Drafts, c.Pattern)
	if err != nil {
		return err
	}
	items := make([]listed, len(found))
	for i, w := range found {
		items[i] = item(w)
	}
	return cli.List(app, items, func(w io.Writer) {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, i := range items {
			_, _ = fmt.Fprintf(t, "%s\t%s\t%s\n", i.Name, i.state(), i.Description)
		}
		_ = t.Flush()
	})
}

func item(w library.Listed) listed {
	return listed{
		Name: w.Name, Description: w.Description, Saved: w.Saved, Hidden: w.Hidden,
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt, Version: w.Version, Error: w.Error,
	}
}

// state returns the state of a workflow for people.
func (i listed) state() string {
	switch {
	case i.Error != nil:
		return "broken"
	case i.Hidden:
		return "hidden draft"
	case i.Saved:
		return "saved"
	}
	return "draft"
}
