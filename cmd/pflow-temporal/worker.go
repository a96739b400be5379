package main

import (
	"path/filepath"
	"runtime"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type workerCommand struct {
	queueFlag
	Slots int    `help:"How many nodes, and how many runs, are executed at the same time; by default one for each processor." placeholder:"N"`
	Home  string `help:"The home in which runs are executed, in place of $PFLOW_HOME." placeholder:"DIR" complete:"dir"`
	Drain string `help:"After a signal, let nodes and runs go on for this time. Then nodes are ended, and runs go on elsewhere." default:"30s" placeholder:"DURATION"`
	clusterFlags
}

// Help returns the longer text of --help.
func (workerCommand) Help() string {
	return `The worker starts the programs of the suite that lie beside it. SIGTERM ends it in order: it takes no more work and waits for what it
executes; a second signal ends it at once. Of a worker that was killed or cannot be reached, the cluster learns within 8 seconds.`
}

// Run executes the work of a queue.
func (c *workerCommand) Run(app *cli.App) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Slots < 0 {
		return fault.New(fault.Usage, "--slots must be at least 1, got %d", c.Slots)
	}
	drain, err := cli.Duration(c.Drain)
	if err != nil {
		return err
	}
	w := &cluster.Worker{Queue: c.Queue, Slots: c.Slots, Drain: drain, Env: app.Env}
	if w.Slots == 0 {
		w.Slots = runtime.GOMAXPROCS(0)
	}
	if w.Suite, err = app.Suite(); err != nil {
		return err
	}
	if c.Home != "" {
		home, err := filepath.Abs(c.Home)
		if err != nil {
			return fault.From(err)
		}
		w.Env = process.Environment(append(w.Env, "PFLOW_HOME="+home))
	}
	to, err := c.connect(app.Context, app)
	if err != nil {
		return err
	}
	defer to.Close()
	return to.Work(app.Context, w)
}
