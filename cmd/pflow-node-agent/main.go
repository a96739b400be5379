// Command pflow-node-agent is the node type agent: it gives a task to a command-line agent, such as claude or codex.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Run runCommand `cmd:"" default:"withargs" hidden:""`
}

func main() {
	os.Exit(cli.Main("pflow-node-agent", "The node type agent: a request on standard input, its outputs on standard output.", &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit,
	}))
}
