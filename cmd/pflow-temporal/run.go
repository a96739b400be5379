package main

import (
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// runArgument is the run that a command is about.
type runArgument struct {
	RunID string `arg:"" name:"run" help:"The id of a run."`
	clusterFlags
}

// state connects to the cluster and returns the state of the run. The cluster must be closed.
func (c *runArgument) state(app *cli.App) (*cluster.Cluster, *cluster.State, error) {
	return stateOf(app, &c.clusterFlags, c.RunID)
}

// stateOf connects to the cluster and returns the state of a run. The cluster must be closed.
func stateOf(app *cli.App, flags *clusterFlags, run string) (*cluster.Cluster, *cluster.State, error) {
	to, err := flags.connect(app.Context, app)
	if err != nil {
		return nil, nil, err
	}
	s, err := to.State(app.Context, run)
	if err != nil {
		to.Close()
		return nil, nil, err
	}
	return to, s, nil
}
