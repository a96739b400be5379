package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/mattn/go-isatty"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type callCommand struct {
	Args []string `arg:"" name:"arg" help:"NAME TOOL [KEY=VALUE…|-], or -- COMMAND [ARG…] -- TOOL [KEY=VALUE…|-]."`
}

// Help is the longer text of --help.
func (callCommand) Help() string {
	return `Two forms:
  pflow-sync call github search_repositories query=pflow perPage:=5
  pflow-sync call -- npx -y @modelcontextprotocol/server-memory -- read_graph     (a server that is not configured)

KEY=VALUE is text that takes the type the tool's input schema asks for, KEY:=JSON a JSON value, KEY=@FILE what a file
holds; - reads all arguments as one JSON object from standard input.

Answers {"success":true,"is_error":false,"server":…,"tool":…,"result":…}. The result is the tool's structured content,
else its one content block (a text that is a JSON object or list is that), else the list of its blocks; "content" holds
the blocks that stand beside structured content and are no text. A tool that fails by its own account answers
{"success":false,"is_error":true,…,"error":FAULT,"result":…} and exit status 1.`
}

// called is the answer of call.
type called struct {
	Success bool              `json:"success"`
	IsError bool              `json:"is_error"`
	Server  string            `json:"server"`
	Tool    string            `json:"tool"`
	Error   *fault.Fault      `json:"error,omitempty"`
	Result  json.RawMessage   `json:"result"`
	Content []json.RawMessage `json:"content,omitempty"`
}

// target is which tool of which server is meant.
type target struct {
	name      string
	server    mcpclient.Server
	tool      string
	arguments []string
}

// Run calls the tool.
func (c *callCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	r, err := newReach(app, h)
	if err != nil {
		return err
	}
	t, err := c.target(func() (mcpclient.Servers, error) { return mcpclient.LoadServers(h) })
	if err != nil {
		return err
	}
	given, err := readArguments(app, t.arguments)
	if err != nil {
		return err
	}
	answer, err := r.call(t, given)
	if err != nil {
		return r.clean(err)
	}
	out := called{Success: true, Server: t.name, Tool: t.tool, Result: answer.Result(), Content: beside(answer)}
	if f := answer.Failure(t.name, t.tool); f != nil {
		out.Success, out.IsError, out.Error = false, true, r.Redactor.Fault(f)
		out.Result, _ = r.Redactor.JSON(out.Result)
		app.Complain(out.Error)
	}
	if err := app.Document(out, func(w io.Writer) { writeText(w, out) }); err != nil || out.Success {
		return err
	}
	return cli.Status(1)
}

// target reads the positional arguments. The first -- is the command line's own and does not come here; a second one
// parts a server's command from the tool.
func (c *callCommand) target(servers func() (mcpclient.Servers, error)) (target, error) {
	args := c.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	for i, arg := range slices.Backward(args) {
		if arg != "--" {
			continue
		}
		if i == 0 || i == len(args)-1 {
			break
		}
		command := args[:i]
		return target{command[0], mcpclient.Server{Command: command[0], Args: command[1:]}, args[i+1], args[i+2:]}, nil
	}
	if len(args) < 2 || slices.Contains(args, "--") {
		return target{}, fault.New(fault.Usage, "A server and a tool are needed").
			Suggest("pflow-sync call NAME TOOL [KEY=VALUE…], or pflow-sync call -- COMMAND [ARG…] -- TOOL [KEY=VALUE…]")
	}
	all, err := servers()
	if err != nil {
		return target{}, err
	}
	server, err := all.Get(args[0])
	return target{args[0], server, args[1], args[2:]}, err
}

// call makes the arguments what the tool's schema asks for, and calls.
func (r *reach) call(t target, given values) (*mcpclient.Answer, error) {
	session, err := r.session(r.app.Context, t.name, t.server)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	tools, err := session.Tools(r.app.Context)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tools, func(tool mcpclient.Tool) bool { return tool.Name == t.tool })
	if i < 0 {
		names := make([]string, len(tools))
		for i, tool := range tools {
			names[i] = tool.Name
		}
		return nil, mcpclient.ToolNotFound(t.name, t.tool, names)
	}
	args, err := given.object(tools[i])
	if err != nil {
		return nil, err
	}
	return session.Call(r.app.Context, t.tool, args, r.progress())
}

// progress shows a tool's progress to a person at a terminal.
func (r *reach) progress() func(done, total float64, message string) {
	if r.app.Quiet || !isatty.IsTerminal(r.app.Stderr.Fd()) {
		return nil
	}
	return func(done, total float64, message string) {
		of := ""
		if total > 0 {
			of = fmt.Sprintf(" of %v", total)
		}
		_, _ = fmt.Fprintf(r.app.Stderr, "%s: %v%s %s\n", r.app.Name, done, of, r.Redactor.Text(message))
	}
}

// beside are the blocks that the structured content does not stand for.
func beside(a *mcpclient.Answer) []json.RawMessage {
	if a.Structured == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.Content), func(block json.RawMessage) bool { return gjson.GetBytes(block, "type").Str == "text" })
}

// writeText prints a result for people: text as it is, anything else as indented JSON.
func writeText(w io.Writer, out called) {
	if v := gjson.ParseBytes(out.Result); v.Type == gjson.String {
		_, _ = fmt.Fprintln(w, v.Str)
		return
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(out.Result)
}
