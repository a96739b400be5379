package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type serveCommand struct {
	flags
	styleFlags
	offerFlags
	Stdio    bool   `help:"Serve the tools and resources over MCP on standard input and output."`
	CacheTTL string `name:"cache-ttl" help:"How long a resource is cached, such as 30s or 5m, ${default} by default; 0 asks the Manager for each read." env:"VELOFLUX_CACHE_TTL" default:"1m" placeholder:"DURATION"`
	Framing  string `help:"How messages are delimited on standard input and output: one per line (newline), by Content-Length headers (lsp), or like the client's first message (auto, the default)." enum:"auto,newline,lsp" default:"auto" env:"VELOFLUX_FRAMING" placeholder:"FRAMING"`
}

const instructions = `Tools and resources of a veloFlux Manager, a stream processor that runs SQL pipelines over streams.
To write SQL: read veloFlux://streams/snapshot and veloFlux://streams/schema?name=STREAM for the streams and columns, and veloFlux://catalog/functions_digest and veloFlux://catalog/syntax_digest for the functions and syntax. Then call the tool to verify it: the Manager plans the SQL and nothing is left behind. A planner_error says what is wrong; correct the SQL and verify again. Heed the warnings: they name constructs that the Manager accepts but computes in another way than SQL says.`

// Run serves until the client is done.
func (c *serveCommand) Run(app *cli.App) error {
	if !c.Stdio {
		return fault.New(fault.Usage, "missing mode: use --stdio").
			Suggest("veloflux-mcp --stdio serves an MCP client; veloflux-mcp call TOOL calls one tool; veloflux-mcp read URI reads one resource; veloflux-mcp tools lists the tools")
	}
	keep, err := ttl(c.CacheTTL)
	if err != nil {
		return err
	}
	options := c.options()
	options.ToolNames, options.CacheTTL = veloflux.NameStyle(c.ToolNames), keep
	runtime, release, err := c.runtime(app, options)
	if err != nil {
		return err
	}
	defer release()
	defer sweeping(app.Context, runtime)()
	os.Stdout = os.Stderr // what a library prints must not get between the messages
	out := struct {
		io.Writer
		io.Closer
	}{app.Stdout, app.Stdout.File()}
	server, err := c.server(app, runtime)
	if err != nil {
		return err
	}
	return server.Serve(app.Context, &stdio.Transport{In: app.Stdin, Out: out, Framing: stdio.Framing(c.Framing), Log: app.Log})
}

// ttl parses --cache-ttl.
func ttl(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil && d == 0 {
		return 0, nil
	}
	return cli.Duration(text)
}

// sweeping sweeps temporary pipelines that other processes left behind, in the background until stop is called.
func sweeping(ctx context.Context, runtime *veloflux.Runtime) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var sweeper sync.WaitGroup
	sweeper.Go(func() { runtime.SweepWhile(ctx) })
	return func() {
		cancel()
		sweeper.Wait()
	}
}

// server returns an MCP server with the runtime's tools and resources.
func (c *serveCommand) server(app *cli.App, runtime *veloflux.Runtime) (*mcpserver.Server, error) {
	config := mcpserver.Config{
		Name: "veloflux-mcp", Title: "veloFlux Manager", Version: cli.Version,
		Instructions: instructions,
		Log:          app.Log,
		Refuse:       refuse,
		Unknown: func(ctx context.Context, call *mcpserver.Call) error {
			_, err := runtime.CallTool(ctx, call.Tool, call.Arguments) // it traces the call and returns the error
			return protocolError(err)
		},
		Read: func(ctx context.Context, uri string) (*mcpserver.Content, error) {
			content, err := runtime.ReadResource(ctx, uri)
			if err != nil {
				return nil, protocolError(err)
			}
			return &mcpserver.Content{MIMEType: content.MIMEType, Text: string(content.Document), TTL: content.TTL, Private: content.Private}, nil
		},
		// The lists do not change while the program runs, and are the same for all users.
		CachePolicy: func(string) (ttl time.Duration, private bool) { return time.Hour, false },
	}
	for _, tool := range runtime.Tools() {
		config.Tools = append(config.Tools, serve(runtime, tool))
	}
	for _, r := range veloflux.Resources() {
		config.Resources = append(config.Resources, mcpserver.Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType})
	}
	return mcpserver.New(config)
}

// serve returns a tool for the server's table. The runtime checks the arguments itself, so that refused ones are traced
// too.
func serve(runtime *veloflux.Runtime, tool veloflux.Tool) mcpserver.Tool {
	return mcpserver.Tool{
		Name: tool.Name, Title: tool.Title, Description: tool.Description, InputSchema: tool.InputSchema, OutputSchema: tool.OutputSchema,
		ReadOnly: tool.ReadOnly, Destructive: tool.Destructive, Idempotent: tool.Idempotent, SkipValidation: true,
		Call: func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
			answer, err := runtime.CallTool(ctx, tool.Name, call.Arguments)
			if err != nil {
				return failed(veloflux.AsError(err))
			}
			return &mcpserver.Result{Structured: answer, Summary: tool.Summary(answer)}
		},
	}
}

// refuse returns what the server itself found wrong in this program's error shape.
func refuse(_ string, f *fault.Fault) *mcpserver.Result {
	return failed(&veloflux.Error{Code: veloflux.CodeToolFailed, Message: f.Error()})
}

func failed(e *veloflux.Error) *mcpserver.Result {
	return &mcpserver.Result{IsError: true, Structured: document(e)}
}

// protocolError returns the JSON-RPC error for a failed read or an unknown tool, for which MCP has no error result.
func protocolError(err error) error {
	e := veloflux.AsError(err)
	kind := mcpserver.Internal
	switch e.Code {
	case veloflux.CodeNotFound:
		kind = mcpserver.NotFound
	case veloflux.CodeInvalidParams:
		kind = mcpserver.Invalid
	}
	return &mcpserver.Error{Kind: kind, Message: e.Message, Data: document(e)}
}

// document returns an error as JSON.
func document(e *veloflux.Error) json.RawMessage {
	raw, err := rawjson.Marshal(e)
	if err != nil { // a detail that JSON cannot represent
		return rawjson.Quote(e.Message)
	}
	return raw
}
