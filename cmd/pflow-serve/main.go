// Command pflow-serve is the MCP front of the suite: a table of tools, each a command of the other programs.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Stdio stdioCommand `cmd:"" default:"withargs" fixed:"" help:"Serve one MCP client on standard input and output (the default)." example:"pflow-serve --toolsets core,workflows"`

	HTTP    httpCommand    `cmd:"" name:"http" help:"Serve any number of MCP clients over HTTP." example:"pflow-serve http --listen 127.0.0.1:3000"`
	Token   tokenCommand   `cmd:"" help:"Make, list and remove the tokens of clients over HTTP."`
	Install installCommand `cmd:"" help:"Add the server to the configuration of an MCP client." example:"pflow-serve install claude-code"`
}

func main() {
	os.Exit(cli.Main("pflow-serve", "Serve workflows to agents over MCP: find building blocks, run, resume, save.", &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit, GivesUp: true, Values: values,
	}))
}
