package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pflow-suite/pflow/pkg/share"
	"github.com/pflow-suite/pflow/pkg/share/store"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// shared is a share in a document.
type shared struct {
	Token       string    `json:"token"`
	Workflow    string    `json:"workflow" complete:"saved"`
	OwnerFunded bool      `json:"owner_funded"`
	CreatedAt   time.Time `json:"created_at"`
	// QuotaRemaining is how many more runs of the workflow are admitted today.
	QuotaRemaining int `json:"quota_remaining"`
}

func (s shared) text(w io.Writer) {
	funded := "not owner-funded"
	if s.OwnerFunded {
		funded = "owner-funded"
	}
	_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d runs left today\n", s.Token, s.Workflow, funded, s.QuotaRemaining)
}

type addCommand struct {
	Workflow    string `arg:"" help:"The name of a saved workflow."`
	OwnerFunded bool   `help:"Let whoever has the token run it, with the owner's API keys. Without this flag they can only see its description."`
}

// Run shares a workflow.
func (c *addCommand) Run(app *cli.App) error {
	service, stop, err := open(app, true)
	if err != nil {
		return err
	}
	defer stop()
	added, err := service.Add(app.Context, c.Workflow, c.OwnerFunded)
	if err != nil {
		return err
	}
	remaining, err := service.Store.Remaining(app.Context)
	if err != nil {
		return err
	}
	doc := document(added, remaining)
	return app.Document(doc, func(w io.Writer) { _, _ = fmt.Fprintln(w, doc.Token) })
}

func document(s store.Share, remaining func(workflow string) int) shared {
	return shared{s.Token, s.Workflow, s.OwnerFunded, s.Created, remaining(s.Workflow)}
}

type listCommand struct{}

// Run lists the shares.
func (c *listCommand) Run(app *cli.App) error {
	service, stop, err := open(app, false)
	if err != nil {
		return err
	}
	defer stop()
	var items []shared
	if service.Store != nil {
		list, err := service.Store.Shares(app.Context)
		if err != nil {
			return err
		}
		remaining, err := service.Store.Remaining(app.Context)
		if err != nil {
			return err
		}
		for _, s := range list {
			items = append(items, document(s, remaining))
		}
	}
	return cli.List(app, items, func(w io.Writer) {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, s := range items {
			s.text(t)
		}
		_ = t.Flush()
	})
}

type removeCommand struct {
	Token string `arg:"" help:"The token, or - for standard input."`
}

// Run ends a share.
func (c *removeCommand) Run(app *cli.App) error {
	token, err := text(app, c.Token)
	if err != nil {
		return err
	}
	if err := share.CheckToken(token); err != nil {
		return err
	}
	service, stop, err := open(app, false)
	if err != nil {
		return err
	}
	defer stop()
	removed := false
	if service.Store != nil {
		if removed, err = service.Store.Remove(app.Context, token); err != nil {
			return err
		}
	}
	if !removed {
		return store.UnknownToken()
	}
	return app.Document(map[string]string{"removed": token}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "removed %s\n", token) })
}

type showCommand struct {
	Token string `arg:"" help:"The token, or - for the arguments of the tool get_flow_info on standard input."`
}

// Run describes the workflow that a token shares.
func (c *showCommand) Run(app *cli.App) error {
	token := c.Token
	if token == "-" {
		raw, err := app.ReadObject()
		if err != nil {
			return err
		}
		if token, err = share.ParseToken(raw); err != nil {
			return err
		}
	}
	service, stop, err := open(app, false)
	if err != nil {
		return err
	}
	defer stop()
	flow, err := service.Flow(app.Context, token)
	if err != nil {
		return err
	}
	return app.Document(flow, func(w io.Writer) { flowText(w, flow) })
}

func flowText(w io.Writer, flow share.Flow) {
	_, _ = fmt.Fprintln(w, flow.Name)
	if flow.Description != nil {
		_, _ = fmt.Fprintln(w, *flow.Description)
	}
	if !flow.OwnerFunded {
		_, _ = fmt.Fprintln(w, "not owner-funded: it cannot be run")
	}
	for _, in := range flow.Inputs {
		_, _ = fmt.Fprintf(w, "input: %s\n", in.Label)
	}
	for _, out := range flow.Outputs {
		_, _ = fmt.Fprintf(w, "output: %s\n", out.Label)
	}
}
