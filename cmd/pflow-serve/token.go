package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/access"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type tokenCommand struct {
	Add    addTokenCommand    `cmd:"" help:"Make a token and print it; it is shown only once." example:"pflow-serve token add laptop --toolsets core,runs"`
	List   listTokensCommand  `cmd:"" help:"List the tokens by name." example:"pflow-serve token list"`
	Remove removeTokenCommand `cmd:"" help:"Remove a token; a server that runs refuses it from then on, and ends what it has open." example:"pflow-serve token remove laptop"`
}

type addTokenCommand struct {
	Name     string   `arg:"" help:"A name for the token, such as that of its client."`
	Toolsets string   `help:"The only toolsets that the token reaches, separated by commas. Default: all that the server has." placeholder:"TOOLSET,…" complete:"toolset"`
	Flows    []string `help:"The only workflows that the token reaches, separated by commas: it runs them, and sees their runs. Default: all." placeholder:"WORKFLOW,…" complete:"saved"`
}

// madeToken is the result of token add.
type madeToken struct {
	Secret string `json:"token"`
	access.Token
}

// Run makes a token.
func (c *addTokenCommand) Run(app *cli.App) error {
	t := access.Token{Name: c.Name, Flows: c.Flows}
	if c.Toolsets != "" {
		names, err := suitetools.ParseToolsets(c.Toolsets)
		if err != nil {
			return err
		}
		t.Toolsets = names
	}
	for _, name := range c.Flows {
		if err := access.CheckFlow(name); err != nil {
			return err
		}
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	dir, err := app.Suite()
	if err != nil {
		return err
	}
	programs := &suite.Programs{Dir: dir, Env: app.Env, Home: h, Version: cli.Version, Log: app.Log}
	for _, name := range c.Flows {
		o, err := programs.Run(app.Context, suite.Command{Program: "pflow-lib", Args: []string{"--quiet", "describe", "--format=json", "--", name}})
		if err == nil && gjson.GetBytes(o.Output, "error.type").Str == string(fault.NotFound) {
			app.Log.Warn("there is no workflow of this name; the token reaches it when there is one", "workflow", name)
		}
	}
	secret, t, err := access.Add(app.Context, h, t)
	if err != nil {
		return err
	}
	t.Hash = ""
	return app.Document(madeToken{secret, t}, func(w io.Writer) { _, _ = fmt.Fprintln(w, secret) })
}

type listTokensCommand struct{}

// Run lists the tokens.
func (listTokensCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	tokens, err := access.List(h)
	if err != nil {
		return err
	}
	for i := range tokens {
		tokens[i].Hash, tokens[i].Sessions = "", nil
	}
	return cli.List(app, tokens, func(w io.Writer) {
		for _, t := range tokens {
			_, _ = fmt.Fprintf(w, "%s  %s  toolsets: %s  workflows: %s\n", t.CreatedAt.Format("2006-01-02 15:04"), t.Name, orAll(t.Toolsets), orAll(t.Flows))
		}
	})
}

func orAll(names []string) string {
	if len(names) == 0 {
		return "all"
	}
	return strings.Join(names, ",")
}

type removeTokenCommand struct {
	Name string `arg:"" help:"The name of the token."`
}

// Run removes a token.
func (c *removeTokenCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	if err := access.Remove(app.Context, h, c.Name); err != nil {
		return err
	}
	return app.Document(map[string]string{"removed": c.Name}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "removed %s\n", c.Name) })
}
