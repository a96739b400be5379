package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type addCommand struct {
	Env        []string `placeholder:"K=V" sep:"none" help:"A variable for the server's environment. $${NAME} in it is replaced from this environment or settings.json when the server starts. May be repeated."`
	InheritEnv bool     `help:"Give the server the whole environment, not only the variables that pass to servers (docs/environment.md)."`
	URL        string   `name:"url" help:"The URL of a server that speaks streamable HTTP. It may also follow the name."`
	Header     []string `placeholder:"'NAME: VALUE'" sep:"none" help:"A header of all requests to the URL. $${NAME} in it is replaced as in --env. May be repeated."`
	Transport  string   `placeholder:"stdio|http" help:"The transport. It follows from the command or the URL, which must fit it."`
	Source     string   `arg:"" name:"name-or-file" help:"The server's name, followed by its URL or by -- COMMAND; or a file with the JSON from the server's instructions, or - for standard input."`
	Force      bool     `help:"Replace servers of the same names."`
	Command    []string `arg:"" optional:"" help:"The URL of the server; or the command that starts it, and its arguments, after --."`
}

// Help returns the longer text of --help.
func (addCommand) Help() string {
	return `Three forms:
  pflow-sync add github --env 'GITHUB_TOKEN=${GITHUB_TOKEN}' -- npx -y @modelcontextprotocol/server-github
  pflow-sync add docs https://example.com/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'
  pflow-sync add servers.json

The document is {"mcpServers":{NAME:{…}}}, {"servers":{NAME:{…}}} or {NAME:{…}}, as Claude Code, Cursor and VS Code write
it. Transports are stdio and streamable HTTP ({"type":"http","url":…,"headers":{…}}). A server of the same name that
differs is replaced only with --force. Answers {"added":[NAME…],"replaced":[NAME…],"notes":[TEXT…]}.`
}

// addOutput is the output of add.
type addOutput struct {
	Added    []string `json:"added"`
	Replaced []string `json:"replaced"`
	Notes    []string `json:"notes"`
}

// Run adds the servers to the configuration.
func (c *addCommand) Run(app *cli.App) error {
	servers, notes, err := c.servers(app)
	if err != nil {
		return err
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	answer := addOutput{Added: []string{}, Replaced: []string{}, Notes: append([]string{}, notes...)}
	err = mcpclient.ChangeServers(app.Context, h, func(all mcpclient.Servers) error {
		var taken []string
		for _, name := range servers.Names() {
			switch old, exists := all[name]; {
			case !exists:
				answer.Added = append(answer.Added, name)
			case old.Same(servers[name]) && old.MaxMemory == servers[name].MaxMemory && old.Disabled == servers[name].Disabled:
				continue
			case c.Force:
				answer.Replaced = append(answer.Replaced, name)
			default:
				taken = append(taken, name)
			}
			all[name] = servers[name]
		}
		if len(taken) > 0 {
			return fault.New(fault.AlreadyExists, "There is another server %s already; nothing was changed", strings.Join(taken, " and ")).
				Suggest("To replace it, add --force before the name").Then(fault.Command("See it", "pflow-sync show %s", taken[0]))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range servers.Names() {
		command := servers[name].Command
		if command == "" || strings.Contains(command, "${") {
			continue
		}
		if _, err := process.LookPath(command, app.Env, ""); err != nil {
			answer.Notes = append(answer.Notes, "server "+name+" cannot start here: "+strings.ReplaceAll(err.Error(), command, servers[name].Shown().Command))
		}
	}
	for _, note := range answer.Notes {
		app.Warn("%s", note)
	}
	return app.Document(answer, func(w io.Writer) {
		for _, name := range servers.Names() {
			verb := "unchanged:"
			switch {
			case slices.Contains(answer.Added, name):
				verb = "added"
			case slices.Contains(answer.Replaced, name):
				verb = "replaced"
			}
			_, _ = fmt.Fprintf(w, "%s %s\n", verb, name)
		}
		_, _ = fmt.Fprintf(w, "pflow-sync sync %s makes the tools node types\n", strings.Join(servers.Names(), " "))
	})
}
