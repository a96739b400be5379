package main

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type callCommand struct {
	flags
	Tool      string   `arg:"" help:"The tool, as veloflux-mcp tools lists it."`
	Arguments []string `arg:"" optional:"" name:"key=value" help:"KEY=VALUE is text, KEY:=JSON a JSON value, KEY=@FILE a file's text; - reads one JSON object from standard input."`
}

// Help is the longer text of --help.
func (callCommand) Help() string {
	return `Prints the tool's answer as one JSON document, or {"success":false,"error":{"error_code","error_message","details"}}.
Exit status: 0 done, 2 wrong arguments (invalid_params), 124 out of time (timeout), 1 anything else.`
}

// Run calls the tool.
func (c *callCommand) Run(app *cli.App) error {
	arguments, err := c.object(app)
	if err != nil {
		return err
	}
	runtime, release, err := c.runtime(app, func(o *veloflux.Options) { o.ToolNames = veloflux.NamesBoth })
	if err != nil {
		return err
	}
	defer release()
	document, err := runtime.CallTool(app.Context, c.Tool, arguments)
	return answer(app, document, err)
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
		object[a.Key] = a.Text
		if a.JSON != nil {
			object[a.Key] = a.JSON
		}
	}
	return rawjson.Marshal(object)
}
