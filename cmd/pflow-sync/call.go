package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mattn/go-isatty"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type callCommand struct {
	Raw      bool    `help:"Print only the tool's own result: structured content as JSON, or text as it is, on a terminal with its control characters."`
	Resource *string `placeholder:"URI" help:"Read a resource of the server: call its tool resources/read."`
	// Answer has the answers to what the server asks, in this order.
	Answer []string `sep:"none" placeholder:"JSON" help:"Answer what the server asks a person: an object with the fields, yes, no or cancel. Repeat it for further questions."`
	Args   []string `arg:"" name:"arg" help:"NAME TOOL [KEY=VALUE…|-], or -- COMMAND [ARG…] -- TOOL [KEY=VALUE…|-]. With --resource: NAME." complete:"server,tool,argument"`
}

// Help returns the longer text of --help.
func (callCommand) Help() string {
	return `Three forms:
  pflow-sync call github search_repositories query=pflow perPage:=5
  pflow-sync call -- npx -y @modelcontextprotocol/server-memory -- read_graph     (a server that is not configured)
  pflow-sync call docs --resource docs://readme

KEY=VALUE is text that is converted to the type in the tool's input schema, KEY:=JSON a JSON value, KEY=@FILE the text of
a file; - reads all arguments as one JSON object from standard input.

Prints {"success":true,"is_error":false,"server":…,"tool":…,"result":…}. The result is the tool's structured content,
else its only content block (a text with a JSON object or list becomes that JSON), else the list of its blocks. If there
is structured content, "content" has the blocks that are not text. If the tool itself fails, the output is
{"success":false,"is_error":true,…,"error":FAULT,"result":…} and the exit status 1.

When the server asks a person, the question is asked on the terminal, or answered by --answer; else the call fails with
the fields in "details". The tool is called again with the answer, from its beginning.

With --raw it prints the result alone: JSON, or text as it is, or the bytes of a single image, audio or file. If the call
fails, it prints nothing, and the error on standard error.`
}

// callOutput is the output of call.
type callOutput struct {
	Success bool              `json:"success"`
	IsError bool              `json:"is_error"`
	Server  string            `json:"server"`
	Tool    string            `json:"tool"`
	Error   *fault.Fault      `json:"error,omitempty"`
	Result  json.RawMessage   `json:"result"`
	Content []json.RawMessage `json:"content,omitempty"`
	// ResultBytes is the size of a result that is too long for --max-bytes, with that of its further blocks, and ResultHead
	// its beginning.
	ResultBytes int    `json:"result_bytes,omitempty"`
	ResultHead  string `json:"result_head,omitempty"`
}

// bounded returns the output in at most the given number of bytes, 0 for any number: with the beginning of the result instead
// of the result if that is too long.
func (o callOutput) bounded(most int) callOutput {
	if most == 0 || page.Size(o) <= most {
		return o
	}
	text := string(o.Result)
	if v := gjson.ParseBytes(o.Result); v.Type == gjson.String {
		text = v.Str
	}
	o.ResultBytes = len(o.Result) + page.Size(o.Content)
	o.Result, o.Content = json.RawMessage("null"), nil
	if o.Error != nil { // its message repeats the result
		f := *o.Error
		f.Message = page.Cut(f.Message, most/4)
		o.Error = &f
	}
	o.ResultHead = page.Cut(text, max(0, most-page.Size(o)-len(`,"result_head":""`)))
	return o
}

// target is a tool of a server, with its arguments.
type target struct {
	name      string
	server    mcpclient.Server
	tool      string
	arguments []string
	// configured is true if the server is one of the configuration.
	configured bool
}

// Run calls the tool.
func (c *callCommand) Run(app *cli.App) error {
	if !c.Raw {
		return c.run(app)
	}
	app.Stdout.Raw()
	err := c.run(app)
	if f, ok := errors.AsType[*fault.Fault](err); ok && app.Context.Err() == nil { // the output is the tool's, or nothing
		app.Complain(f)
		return cli.Status(f.ExitStatus())
	}
	return err
}

func (c *callCommand) run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	r, err := newConnector(app, h)
	if err != nil {
		return err
	}
	defer r.close()
	t, err := c.target(func() (mcpclient.Servers, error) { return mcpclient.LoadServers(h) })
	if err != nil {
		return err
	}
	given, err := readArguments(app, t.arguments)
	if err != nil {
		return err
	}
	if err := checkRegistered(registry.Open(h), t, given); err != nil {
		return r.clean(err)
	}
	answer, tool, err := r.call(t, given, c.Answer)
	if err != nil {
		return r.clean(err)
	}
	if c.Raw {
		return r.printRaw(t, answer, tool.OutputSchema)
	}
	out := callOutput{Success: true, Server: t.name, Tool: t.tool, Result: answer.Result(tool.OutputSchema), Content: extraContent(answer)}
	out.Result, _ = r.Redactor.JSON(out.Result)
	for i, block := range out.Content {
		out.Content[i], _ = r.Redactor.JSON(block)
	}
	if f := answer.Failure(t.name, t.tool); f != nil {
		out.Success, out.IsError, out.Error = false, true, r.Redactor.Fault(f)
		app.Complain(out.Error)
	}
	if err := app.Document(out.bounded(app.MaxBytes), func(w io.Writer) { writeText(w, out) }); err != nil || out.Success {
		return err
	}
	return cli.Status(1)
}

// target parses the positional arguments, with --resource only a server. A leading -- is dropped; the last -- separates a server's command from the tool.
func (c *callCommand) target(servers func() (mcpclient.Servers, error)) (target, error) {
	args := c.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if c.Resource != nil && *c.Resource == "" {
		return target{}, fault.New(fault.Usage, "--resource must not be empty").Then(fault.Command("See the resources", "pflow-sync tools NAME %s", mcpclient.ReadResource))
	}
	if c.Resource != nil {
		if len(args) != 1 {
			return target{}, fault.New(fault.Usage, "--resource takes a configured server and no arguments").
				Then(fault.Command("Read one", "pflow-sync call NAME --resource URI, or pflow-sync call -- COMMAND [ARG…] -- %s uri=URI", mcpclient.ReadResource))
		}
		args = append(slices.Clone(args), mcpclient.ReadResource, "uri:="+string(rawjson.Quote(*c.Resource)))
	}
	for i, arg := range slices.Backward(args) {
		if arg != "--" {
			continue
		}
		if i == 0 || i == len(args)-1 {
			break
		}
		command := args[:i]
		return target{command[0], mcpclient.Server{Command: command[0], Args: command[1:]}, args[i+1], args[i+2:], false}, nil
	}
	if len(args) < 2 || slices.Contains(args, "--") {
		return target{}, fault.New(fault.Usage, "A server and a tool are needed").
			Then(fault.Command("Call one", "pflow-sync call NAME TOOL [KEY=VALUE…], or pflow-sync call -- COMMAND [ARG…] -- TOOL [KEY=VALUE…]"))
	}
	all, err := servers()
	if err != nil {
		return target{}, err
	}
	server, err := all.Get(args[0])
	return target{args[0], server, args[1], args[2:], true}, err
}

// checkRegistered checks the arguments by the schema that the registry has of the tool, so that wrong ones start no server. It returns
// nil if the registry cannot tell: then the server's own schema decides alone.
func checkRegistered(types *registry.Registry, t target, given toolArguments) error {
	if !t.configured {
		return nil
	}
	known, ok, err := types.Known("mcp-" + t.name + "-" + t.tool)
	if err != nil || !ok || known.MCP == nil || known.MCP.Server != t.name || known.MCP.Tool != t.tool || known.MCP.OriginalSchema == nil {
		return nil //nolint:nilerr // a call needs no registry
	}
	if bytes.Contains(known.MCP.OriginalSchema, []byte(redact.Mark)) { // it says not what the server said
		return nil
	}
	_, err = given.object(mcpclient.Tool{Name: t.tool, InputSchema: known.MCP.OriginalSchema})
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.Suggest("The parameters are those of the last sync").Then(fault.Step{Do: fault.DoSync, Name: t.name})
	}
	return err
}

// call converts the arguments to the types in the tool's schema, and calls the tool.
func (r *connector) call(t target, given toolArguments, answers []string) (*mcpclient.Answer, mcpclient.Tool, error) {
	var tool mcpclient.Tool
	session, err := r.session(r.app.Context, t.name, t.server)
	if err != nil {
		return nil, tool, err
	}
	defer session.Close()
	tools, err := session.Tools(r.app.Context)
	if err != nil {
		return nil, tool, err
	}
	i := slices.IndexFunc(tools, func(tool mcpclient.Tool) bool { return tool.Name == t.tool })
	if i < 0 {
		names := make([]string, len(tools))
		for i, tool := range tools {
			names[i] = tool.Name
		}
		return nil, tool, mcpclient.ToolNotFound(t.name, t.tool, names)
	}
	tool = tools[i]
	args, err := given.object(tool)
	if err != nil {
		return nil, tool, err
	}
	r.Redactor.AddCredentialsOf(args)
	answer, err := r.answered(session, mcpclient.Request{Tool: t.tool, Arguments: args, Progress: r.progress()}, answers)
	return answer, tool, err
}

// progress returns a function that shows a tool's progress, or nil if standard error is not a terminal.
func (r *connector) progress() func(done, total float64, message string) {
	if r.app.Quiet || !isatty.IsTerminal(r.app.Stderr.Fd()) {
		return nil
	}
	return func(done, total float64, message string) {
		of := ""
		if total > 0 {
			of = fmt.Sprintf(" of %v", total)
		}
		_, _ = fmt.Fprintf(r.app.Messages(), "%s: %v%s %s\n", r.app.Name, done, of, r.Redactor.Text(message))
	}
}

// extraContent returns the blocks that the structured content does not represent.
func extraContent(a *mcpclient.Answer) []json.RawMessage {
	if a.Structured == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.Content), func(block json.RawMessage) bool { return gjson.GetBytes(block, "type").Str == "text" })
}

// writeText prints a result for people: text as it is, anything else as indented JSON.
func writeText(w io.Writer, out callOutput) {
	if v := gjson.ParseBytes(out.Result); v.Type == gjson.String {
		_, _ = fmt.Fprintln(w, v.Str)
		return
	}
	var indented bytes.Buffer
	_ = json.Indent(&indented, out.Result, "", "  ") // it is JSON
	_, _ = fmt.Fprintln(w, indented.String())
}
