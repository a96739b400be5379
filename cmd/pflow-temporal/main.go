// Command pflow-temporal executes attempts at nodes and whole runs on a Temporal cluster.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Worker workerCommand `cmd:"" help:"Execute the work of a queue, until a signal." example:"pflow-temporal worker --queue pflow --slots 4"`
	Node   nodeCommand   `cmd:"" help:"Execute one attempt at a node on a worker: the document on standard input. This is a command for runners." example:"pflow-lib settings set runners.cluster 'pflow-temporal node --queue pflow'"`
	Start  startCommand  `cmd:"" help:"Start a run on the workers of a queue, and print its id." example:"pflow-temporal start disk.json dir=/tmp --queue pflow"`

	Resume resumeCommand `cmd:"" help:"Go on from a run on the workers of a queue, with a workflow as it is now, and print the id of the new run." example:"pflow-temporal resume r01kasxyz disk.json --queue pflow"`

	Status  statusCommand  `cmd:"" help:"Show how far a run is." example:"pflow-temporal status r01kasxyz"`
	Wait    waitCommand    `cmd:"" help:"Wait until a run has ended or waits for a person, and answer and exit as pflow-exec does." example:"pflow-temporal wait r01kasxyz"`
	Events  eventsCommand  `cmd:"" help:"Print a run's events, from which pflow-exec can go on." example:"pflow-temporal events r01kasxyz | pflow-exec run disk.json --resume -"`
	Cancel  cancelCommand  `cmd:"" help:"Stop a run cleanly, and wait until it has stopped." example:"pflow-temporal cancel r01kasxyz"`
	Approve approveCommand `cmd:"" help:"Answer the question of a run that waits for a person." example:"pflow-temporal approve r01kasxyz yes"`
	List    listCommand    `cmd:"" help:"List the runs, newest first." example:"pflow-temporal list --limit 10"`
	GC      gcCommand      `cmd:"" name:"gc" help:"Remove files from the shared folder that nothing needs." example:"pflow-temporal gc --blobs /shared/pflow"`

	Guard guardCommand `cmd:"" hidden:""`
}

const description = `Execute nodes and runs on a Temporal cluster. The variables TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS…, or the file and profile that TEMPORAL_CONFIG_FILE and TEMPORAL_PROFILE name, say which; the default is 127.0.0.1:7233.`

func main() {
	os.Exit(cli.Main("pflow-temporal", description, &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit, Reader: fault.Cluster,
	}))
}
