// Command pflow-share shares workflows by links: tokens, limits, the owner's API keys, and jobs.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/share"
	"github.com/pflow-suite/pflow/pkg/share/store"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Add    addCommand    `cmd:"" help:"Share a saved workflow under a new token." example:"pflow-share add disk-report --owner-funded"`
	List   listCommand   `cmd:"" help:"List what is shared." example:"pflow-share list"`
	Show   showCommand   `cmd:"" help:"Describe the workflow that a token shares." example:"pflow-share show aB3dE6gH9jK2"`
	Remove removeCommand `cmd:"" help:"End a share." example:"pflow-share remove aB3dE6gH9jK2"`
	Run    runCommand    `cmd:"" help:"Admit a run of a shared workflow, and start it with the owner's keys." example:"pflow-share run aB3dE6gH9jK2"`
	Admit  admitCommand  `cmd:"" help:"Count a run that another program starts, if the limits allow it." example:"pflow-share admit aB3dE6gH9jK2"`
	Job    jobCommand    `cmd:"" help:"Show the state of a job and, if it has ended, its outputs." example:"pflow-share job job_aB3dE6gH9jK2mN5p"`
	Output outputCommand `cmd:"" fixed:"" help:"Print the bytes of an output of a job." example:"pflow-share output job_aB3dE6gH9jK2mN5p report > report.txt"`
	Jobs   jobsCommand   `cmd:"" help:"List the jobs of the last hour." example:"pflow-share jobs"`
	Keys   keysCommand   `cmd:"" help:"Store the owner's API keys for runs of shared workflows."`

	Cleanup cleanupCommand `cmd:"" help:"Remove old jobs. Runs stay." example:"pflow-share cleanup"`
}

func main() {
	os.Exit(cli.Main("pflow-share", "Share workflows by links, with limits and the owner's API keys.", &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit,
	}))
}

// open opens the service. Only a command that writes something new creates the database.
func open(app *cli.App, create bool) (*share.Service, func(), error) {
	service, err := withoutStore(app)
	if err != nil {
		return nil, nil, err
	}
	if service.Store, err = store.Open(app.Context, service.Home, create); err != nil {
		return nil, nil, err
	}
	stop := func() {}
	if service.Store != nil {
		stop = service.Store.Close
	}
	return service, stop, nil
}

// withoutStore returns the service without its database.
func withoutStore(app *cli.App) (*share.Service, error) {
	h, err := app.Home()
	if err != nil {
		return nil, err
	}
	dir, err := app.Suite()
	if err != nil {
		return nil, err
	}
	return &share.Service{Home: h, Env: app.Env, Dir: dir, Reader: app.Reader}, nil
}
