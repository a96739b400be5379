// Command pflow-node-source-workflow is the node type of the runs of sources: it executes a workflow by the commands of its source.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Run runCommand `cmd:"" default:"withargs" hidden:""`
}

const description = `The node type of the runs of sources: executes a workflow by the commands of its source in serve.json. It reads {"v":1,"params":{…}} from standard input, as pflow-exec sends it, and prints the outputs as one JSON object. pflow-node-source-workflow --describe lists the parameters.`

func main() {
	os.Exit(cli.Main("pflow-node-source-workflow", description, &grammar{},
		cli.System{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit}))
}
