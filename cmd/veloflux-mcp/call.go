package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type callCommand struct {
	managerFlags
	Tool      string   `arg:"" help:"The tool, as veloflux-mcp tools lists it."`
	Arguments []string `arg:"" optional:"" name:"key=value" help:"KEY=VALUE is text, KEY:=JSON a JSON value, KEY=@FILE a file's text; - reads one JSON object from standard input."`
}

// Help is the longer text of --help.
func (callCommand) Help() string {
	return `Prints the tool's answer as one JSON document, or {"success":false,"error":{"error_code","error_message","details"}}.
Exit status: 0 done, 2 wrong arguments (invalid_params), 124 out of time (timeout), 1 anything else.`
}

// failure is the document that stands in the place of an answer.
type failure struct {
	Success bool            `json:"success"`
	Error   *veloflux.Error `json:"error"`
}

// Run calls the tool.
func (c *callCommand) Run(app *cli.App) error {
	runtime, err := c.runtime()
	if err != nil {
		return err
	}
	arguments, err := c.object(app)
	if err != nil {
		return err
	}
	answer, err := runtime.CallTool(app.Context, c.Tool, arguments)
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
	return app.Document(answer, func(w io.Writer) {
		var buf bytes.Buffer
		_ = json.Indent(&buf, answer, "", "  ")
		_, _ = fmt.Fprintln(w, buf.String())
	})
}

// object makes one JSON object of the command line's arguments.
func (c *callCommand) object(app *cli.App) (json.RawMessage, error) {
	if len(c.Arguments) == 1 && c.Arguments[0] == "-" {
		data, err := app.ReadArgument("-")
		if err == nil && !(json.Valid(data) && gjson.ParseBytes(data).IsObject()) {
			err = fault.New(fault.Usage, "Standard input is not one JSON object")
		}
		return data, err
	}
	list, err := app.Assignments(c.Arguments)
	if err != nil {
		return nil, err
	}
	object := make(map[string]any, len(list))
	for _, a := range list {
		if _, twice := object[a.Key]; twice {
			return nil, fault.New(fault.Usage, "%s is given twice", a.Key)
		}
		object[a.Key] = a.Text
		if a.JSON != nil {
			object[a.Key] = a.JSON
		}
	}
	return json.Marshal(object)
}
