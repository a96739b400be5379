package main

import (
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// record keeps what was seen of servers, for show. A failure is logged only, because the command itself has done its work.
func record(app *cli.App, h *home.Home, change func(map[string]mcpclient.Record)) {
	if err := mcpclient.ChangeRecords(app.Context, h, change); err != nil {
		app.Log.Info("what was seen of the servers cannot be recorded", "file", mcpclient.RecordsFile, "error", err)
	}
}

// now returns the time for a record, to the second.
func now() *time.Time { return new(time.Now().UTC().Truncate(time.Second)) }
