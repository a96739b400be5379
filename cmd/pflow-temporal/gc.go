package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type gcCommand struct{ clusterFlags }

// Help returns the longer text of --help.
func (gcCommand) Help() string {
	return `It removes files that are older than an hour and belong to nodes that have ended, or to runs that the namespace does not keep any more,
because its retention is over. The folder must be that of one namespace. Other files in it stay.`
}

// Run removes files that nothing needs from the shared folder.
func (c *gcCommand) Run(app *cli.App) error {
	if c.Blobs == "" {
		return fault.New(fault.Usage, "gc needs --blobs DIR, the folder that all machines share")
	}
	to, err := c.connect(app.Context, app)
	if err != nil {
		return err
	}
	defer to.Close()
	done, err := to.Collect(app.Context)
	if err != nil {
		return err
	}
	return app.Document(done, func(w io.Writer) { _, _ = fmt.Fprintf(w, "removed %d files, %d bytes\n", done.Files, done.Bytes) })
}
