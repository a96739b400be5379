// Command pflow-serve is the MCP front of the suite: a table of tools, each a command of the other programs.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Stdio stdioCommand `cmd:"" default:"withargs" help:"Serve one MCP client on standard input and output (the default)."`

	Install installCommand `cmd:"" help:"Add the server to the configuration of an MCP client."`
}

func main() {
	os.Exit(cli.Main("pflow-serve", "Serve workflows to agents over MCP: find building blocks, run, resume, save.", &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit,
	}))
}
