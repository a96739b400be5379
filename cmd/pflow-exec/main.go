// Command pflow-exec runs workflows, records their runs, and answers questions about runs.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Run    runCommand    `cmd:"" help:"Run a workflow and print its events as they happen." example:"pflow-exec run disk.json dir=/tmp"`
	Start  startCommand  `cmd:"" help:"Run a workflow in the background and print the id of the run." example:"pflow-exec start disk.json dir=/tmp"`
	Node   nodeCommand   `cmd:"" help:"Run one node and print its outputs." example:"pflow-exec node shell command=date"`
	Status statusCommand `cmd:"" help:"Show how far a run is." example:"pflow-exec status last"`
	Wait   waitCommand   `cmd:"" help:"Wait for a run to end, then answer and exit as run does." example:"pflow-exec wait last"`
	Events eventsCommand `cmd:"" help:"Print a run's events." example:"pflow-exec events last --follow"`
	Watch  watchCommand  `cmd:"" help:"Print the events of all runs as they come." example:"pflow-exec watch | jq -r .event"`
	Logs   logsCommand   `cmd:"" help:"Print the output of nodes' processes as it comes." example:"pflow-exec logs last fetch --follow"`
	Show   showCommand   `cmd:"" help:"Show everything that is known about a run or one of its nodes." example:"pflow-exec show last fetch"`
	Diff   diffCommand   `cmd:"" help:"Show which nodes differ between two runs." example:"pflow-exec diff r01abc last"`
	Cancel cancelCommand `cmd:"" help:"Stop a run cleanly, and wait until it has stopped." example:"pflow-exec cancel last"`
	Resume resumeCommand `cmd:"" help:"Go on from where a run stopped, with its workflow as it is now." example:"pflow-exec resume last"`
	List   listCommand   `cmd:"" help:"List runs, newest first." example:"pflow-exec list --status failed --since 1d"`
	Report reportCommand `cmd:"" help:"Write a run as one HTML page." example:"pflow-exec report last -o run.html"`

	Verify verifyCommand `cmd:"" help:"Check what runs have stored." example:"pflow-exec verify last"`
	GC     gcCommand     `cmd:"" name:"gc" help:"Remove old runs." example:"pflow-exec gc --older-than 7d --dry-run"`

	Detached detachedCommand `cmd:"" hidden:""`
}

func main() {
	os.Exit(cli.Main("pflow-exec", "Run a workflow and record it.", &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit, GivesUp: true, Instead: instead(),
		Values: values,
	}))
}
