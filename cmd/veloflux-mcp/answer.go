package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

// failure is the document that stands in the place of an answer.
type failure struct {
	Success bool            `json:"success"`
	Error   *veloflux.Error `json:"error"`
}

// answer prints a document of the runtime, or the error in its place.
func answer(app *cli.App, document json.RawMessage, err error) error {
	if app.Context.Err() != nil {
		return app.Context.Err() // a signal, which has an exit status of its own
	}
	if err != nil {
		e := asError(err)
		_, _ = fmt.Fprintf(app.Stderr, "%s: error: %s\n", app.Name, e.Message)
		if app.JSON() {
			if err := app.JSONLine(failure{Error: e}); err != nil {
				return err
			}
		}
		return cli.Status(e.ExitStatus())
	}
	return app.Document(document, func(w io.Writer) {
		var buf bytes.Buffer
		_ = json.Indent(&buf, document, "", "  ")
		_, _ = fmt.Fprintln(w, buf.String())
	})
}
