// Command pflow-sync configures MCP servers, registers their tools as node types, and calls tools by hand. It also
// registers programs as node types.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Add     addCommand     `cmd:"" help:"Configure a server by its command, or by a JSON document from a file or standard input." example:"pflow-sync add files -- npx -y @modelcontextprotocol/server-filesystem /tmp"`
	Import  importCommand  `cmd:"" help:"List the servers of other MCP clients, or take them over." example:"pflow-sync import --from claude-code"`
	List    listCommand    `cmd:"" help:"List the configured servers." example:"pflow-sync list"`
	Show    showCommand    `cmd:"" help:"Show all that is known of a server, without starting it." example:"pflow-sync show files"`
	Remove  removeCommand  `cmd:"" help:"Remove a server and its tools." example:"pflow-sync remove files"`
	Enable  enableCommand  `cmd:"" help:"Let disabled servers start again." example:"pflow-sync enable files"`
	Disable disableCommand `cmd:"" help:"Let servers not start any more, without removing them." example:"pflow-sync disable files"`
	Login   loginCommand   `cmd:"" help:"Log in to a server that offers OAuth, with a browser." example:"pflow-sync login notes"`
	Logout  logoutCommand  `cmd:"" help:"Remove the tokens of a login, and revoke them." example:"pflow-sync logout notes"`
	Sync    syncCommand    `cmd:"" help:"List the tools of servers and make them node types." example:"pflow-sync sync files"`
	Tools   toolsCommand   `cmd:"" help:"List the tools that are node types." example:"pflow-sync tools"`
	Call    callCommand    `cmd:"" help:"Call one tool and print its result." example:"pflow-sync call files list_directory path=/tmp"`
	Doctor  doctorCommand  `cmd:"" help:"Start servers and say what is wrong with them." example:"pflow-sync doctor"`
	Nodes   nodesCommand   `cmd:"" help:"Make the programs pflow-node-NAME node types." example:"pflow-sync nodes"`
}

func main() {
	os.Exit(cli.Main("pflow-sync", "MCP servers and their tools: configure, discover, call.", &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit, GivesUp: true, Values: values,
	}))
}
