// Command pflow-exec runs a workflow and records it, and answers what became of runs.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Run    runCommand    `cmd:"" help:"Run a workflow; events go to standard output as they happen."`
	Start  startCommand  `cmd:"" help:"Run a workflow apart from this process; print its run id at once."`
	Status statusCommand `cmd:"" help:"Tell where a run stands."`
	Wait   waitCommand   `cmd:"" help:"Wait for a run's end; answer and exit as run would have."`
	Events eventsCommand `cmd:"" help:"Print a run's events."`
	Logs   logsCommand   `cmd:"" help:"Print what nodes' processes say, as it comes."`
	Show   showCommand   `cmd:"" help:"Tell all that is known of a run, or of one of its nodes."`
	Cancel cancelCommand `cmd:"" help:"Stop a run in order."`
	Resume resumeCommand `cmd:"" help:"Go on from where a run stopped, with the workflow as it was."`
	List   listCommand   `cmd:"" help:"List the runs, the newest first."`
	Report reportCommand `cmd:"" help:"Write a run as one HTML page."`

	GC gcCommand `cmd:"" name:"gc" help:"Remove runs that nobody needs any more."`

	Detached detachedCommand `cmd:"" hidden:""`
}

func main() {
	os.Exit(cli.Main("pflow-exec", "Run a workflow and record it.", &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit,
	}))
}
