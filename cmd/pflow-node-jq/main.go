// Command pflow-node-jq is the node type jq: it applies a filter to JSON.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Run runCommand `cmd:"" default:"withargs" hidden:""`
}

const description = `The node type jq: applies a filter to JSON. It reads {"v":1,"params":{…}} from standard input, as pflow-exec sends it, and prints the outputs as one JSON object. pflow-node-jq --describe lists the parameters.`

func main() {
	os.Exit(cli.Main("pflow-node-jq", description, &grammar{},
		cli.System{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit}))
}
