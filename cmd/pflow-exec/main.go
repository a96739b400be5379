// Command pflow-exec runs workflows, records their runs, and answers questions about runs.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Run    runCommand    `cmd:"" help:"Run a workflow and print its events as they happen."`
	Start  startCommand  `cmd:"" help:"Run a workflow in the background and print the id of the run."`
	Node   nodeCommand   `cmd:"" help:"Run one node and print its outputs."`
	Status statusCommand `cmd:"" help:"Show how far a run is."`
	Wait   waitCommand   `cmd:"" help:"Wait for a run to end, then answer and exit as run does."`
	Events eventsCommand `cmd:"" help:"Print a run's events."`
	Logs   logsCommand   `cmd:"" help:"Print the output of nodes' processes as it comes."`
	Show   showCommand   `cmd:"" help:"Show everything that is known about a run or one of its nodes."`
	Diff   diffCommand   `cmd:"" help:"Show which nodes differ between two runs."`
	Cancel cancelCommand `cmd:"" help:"Stop a run cleanly, and wait until it has stopped."`
	Resume resumeCommand `cmd:"" help:"Go on from where a run stopped, with the workflow that it ran."`
	List   listCommand   `cmd:"" help:"List runs, newest first."`
	Report reportCommand `cmd:"" help:"Write a run as one HTML page."`

	GC gcCommand `cmd:"" name:"gc" help:"Remove old runs."`

	Detached detachedCommand `cmd:"" hidden:""`
}

func main() {
	os.Exit(cli.Main("pflow-exec", "Run a workflow and record it.", &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit, Instead: instead(),
	}))
}
