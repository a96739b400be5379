// Command pflow-sync configures MCP servers, registers their tools as node types, and calls tools by hand. It also
// registers programs as node types.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Add     addCommand     `cmd:"" help:"Configure a server by its command, or by a JSON document from a file or standard input."`
	List    listCommand    `cmd:"" help:"List the configured servers."`
	Remove  removeCommand  `cmd:"" help:"Remove a server and its tools."`
	Enable  enableCommand  `cmd:"" help:"Let disabled servers start again."`
	Disable disableCommand `cmd:"" help:"Let servers not start any more, without removing them."`
	Sync    syncCommand    `cmd:"" help:"List the tools of servers and make them node types."`
	Tools   toolsCommand   `cmd:"" help:"List the tools that are node types."`
	Call    callCommand    `cmd:"" help:"Call one tool and print its result."`
	Doctor  doctorCommand  `cmd:"" help:"Start servers and say what is wrong with them."`
	Nodes   nodesCommand   `cmd:"" help:"Make the programs pflow-node-NAME node types."`
}

func main() {
	os.Exit(cli.Main("pflow-sync", "MCP servers and their tools: configure, discover, call.", &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit,
	}))
}
