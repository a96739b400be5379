package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

// failure is the document that is printed instead of an answer.
type failure struct {
	Success bool            `json:"success"`
	Error   *veloflux.Error `json:"error"`
}

// printAnswer prints a document of the runtime, or err instead, and returns the error for the exit status.
func printAnswer(app *cli.App, document json.RawMessage, err error) error {
	if app.Context.Err() != nil {
		return app.Context.Err() // a signal has its own exit status
	}
	if err != nil {
		e := veloflux.AsError(err)
		var printErr error
		if app.JSON() {
			printErr = app.JSONLine(failure{Error: e})
		}
		_, _ = fmt.Fprintf(app.Messages(), "%s: error: %s\n", app.Name, strings.Join(cells.Lines(e.Message), "\n"))
		return cmp.Or[error](printErr, cli.Status(e.ExitStatus()))
	}
	return app.Document(document, func(w io.Writer) { writeText(w, document) })
}

// writeText writes an answer for people: a plan as drawn, with its warnings, and anything else as indented JSON.
func writeText(w io.Writer, document json.RawMessage) {
	plan := gjson.GetBytes(document, "pretty")
	if !plan.Exists() {
		var buf bytes.Buffer
		_ = json.Indent(&buf, document, "", "  ")
		for _, line := range cells.Lines(buf.String()) {
			_, _ = fmt.Fprintln(w, line)
		}
		return
	}
	for _, line := range cells.Lines(plan.Str) {
		_, _ = fmt.Fprintln(w, line)
	}
	for _, warning := range gjson.GetBytes(document, "warnings").Array() {
		where := ""
		if line := warning.Get("line"); line.Exists() {
			where = fmt.Sprintf("line %d, column %d: ", line.Int(), warning.Get("column").Int())
		}
		_, _ = fmt.Fprintf(w, "\nwarning: %s%s\n", where, cells.Clean(warning.Get("message").Str))
	}
}
