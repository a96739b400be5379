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
	os.Exit(cli.Main("pflow-node-agent", `The node type agent: gives a task to a command-line agent. It reads {"v":1,"params":{…}} from standard input, as pflow-exec sends it, and prints the outputs as one JSON object. pflow-node-agent --describe lists the parameters.`, &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit,
	}))
}
