package main

import (
	"context"
	"crypto/rand"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// children ends what this program's children have started, servers and programs that describe themselves. It also ends what
// killed programs have left.
type children struct {
	app *cli.App
	// mark is the variable, NAME=VALUE, that the children have in their environment.
	mark   string
	strays process.Strays
	// unwatch ends the watch for the signal that stops the command.
	unwatch func() bool
	// claim makes another program end the children's processes if this one is killed. It is nil if the home cannot be written.
	claim *process.Claim
	// awaitAbandoned waits until the processes of killed programs have ended.
	awaitAbandoned func(ctx context.Context)
}

// newChildren returns the children of this program, which the caller must end. It is called before the first one is started.
func newChildren(app *cli.App, h *home.Home) *children {
	process.AdoptOrphans()
	mark := mcpclient.SyncVariable + "=" + rand.Text()
	c := &children{app: app, mark: mark, strays: process.Strays{Mark: mark, Grace: process.DefaultGrace}}
	live := h.Path(home.Live)
	var err error
	if c.claim, err = process.NewClaim(live, mark); err != nil {
		app.Log.Info("processes that are started will be left if this program is killed", "error", err)
	}
	c.unwatch = context.AfterFunc(app.Context, c.strays.Terminate)
	c.awaitAbandoned = process.EndAbandoned(live, process.DefaultGrace)
	return c
}

// end ends all processes that the children have left. The children themselves must have ended. It also waits until the processes
// of killed programs have ended, unless this program is stopped: then the next one ends them.
func (c *children) end() {
	c.unwatch()
	c.strays.EndRemaining()
	if c.claim != nil {
		c.claim.Release()
	}
	c.awaitAbandoned(c.app.Context)
}
