package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcpserver"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type serveCommand struct {
	managerFlags
	Stdio bool `help:"Serve the tools over MCP on standard input and output."`
}

// Run serves until the client is done.
func (c *serveCommand) Run(app *cli.App) error {
	if !c.Stdio {
		return fault.New(fault.Usage, "missing mode: use --stdio").
			Suggest("veloflux-mcp --stdio serves an MCP client; veloflux-mcp call TOOL calls one tool; veloflux-mcp tools lists them")
	}
	runtime, err := c.runtime()
	if err != nil {
		return err
	}
	os.Stdout = os.Stderr // whatever a library prints must not get between the messages
	out := struct {
		io.Writer
		io.Closer
	}{app.Stdout, app.Stdout.File()}
	server := mcpserver.Server{
		Name: "veloflux-mcp", Title: "veloFlux Manager", Version: cli.Version,
		Instructions: "Tools of a veloFlux Manager, a stream processor that runs SQL pipelines over streams.",
		Log:          app.Log,
		Refuse:       refuse,
	}
	for _, tool := range veloflux.Tools() {
		server.Tools = append(server.Tools, serve(runtime, tool))
	}
	return server.ServeStdio(app.Context, app.Stdin, out)
}

// serve is a tool in the server's table.
func serve(runtime *veloflux.Runtime, tool veloflux.Tool) mcpserver.Tool {
	return mcpserver.Tool{
		Name: tool.Name, Title: tool.Title, Description: tool.Description, InputSchema: tool.InputSchema, OutputSchema: tool.OutputSchema,
		ReadOnly: tool.ReadOnly, Destructive: tool.Destructive, Idempotent: tool.Idempotent,
		Call: func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
			answer, err := runtime.CallTool(ctx, tool.Name, call.Arguments)
			if err != nil {
				return failed(asError(err))
			}
			return &mcpserver.Result{Structured: answer}
		},
	}
}

// refuse puts what the server itself found wrong into this program's error shape.
func refuse(_ string, f *fault.Fault) *mcpserver.Result {
	e := &veloflux.Error{Code: veloflux.ToolFailed, Message: strings.Join(append([]string{f.Error()}, f.Suggestions...), ". ")}
	if f.Type == fault.Usage {
		e.Code = veloflux.InvalidParams
	}
	if len(f.Available) > 0 {
		e.Details = map[string]any{"available": f.Available}
	}
	return failed(e)
}

func failed(e *veloflux.Error) *mcpserver.Result {
	raw, err := rawjson.Marshal(e)
	if err != nil {
		return &mcpserver.Result{IsError: true, Text: e.Message}
	}
	return &mcpserver.Result{IsError: true, Structured: raw}
}

// asError finds the runtime's error in a chain.
func asError(err error) *veloflux.Error {
	if e, ok := errors.AsType[*veloflux.Error](err); ok {
		return e
	}
	return &veloflux.Error{Code: veloflux.ToolFailed, Message: err.Error()}
}
