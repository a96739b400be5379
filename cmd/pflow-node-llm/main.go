// Command pflow-node-llm is the node type llm: it asks a language model.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Ask askCommand `cmd:"" default:"withargs" hidden:""`
}

const description = `The node type llm: asks a language model. It reads {"v":1,"params":{…}} from standard input, as pflow-exec sends it, and prints the outputs as one JSON object. pflow-node-llm --describe lists the parameters.`

func main() {
	os.Exit(cli.Main("pflow-node-llm", description, &grammar{},
		cli.System{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit}))
}
