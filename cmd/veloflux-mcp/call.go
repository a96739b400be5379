package main

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/toolargs"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type callCommand struct {
	flags
	offerFlags
	Tool      string   `arg:"" help:"The tool, as veloflux-mcp tools lists it."`
	Arguments []string `arg:"" optional:"" name:"key=value" help:"KEY=VALUE is text that takes the argument's type, KEY:=JSON a JSON value, KEY=@FILE a file's text (KEY=@- standard input's); - reads one JSON object from standard input."`
}

// Help is the longer text of --help.
func (callCommand) Help() string {
	return `Prints the tool's answer as one JSON document, or {"success":false,"error":{"error_code","error_message","details"}}.
Exit status: 0 done, 2 wrong arguments (invalid_params), 124 out of time (timeout), 1 anything else.`
}

// Run calls the tool.
func (c *callCommand) Run(app *cli.App) error {
	options := c.options()
	options.ToolNames = veloflux.NamesBoth
	given, err := c.object(app, options)
	if err != nil {
		return err
	}
	runtime, release, err := c.runtime(app, options)
	if err != nil {
		return err
	}
	defer release()
	document, err := runtime.CallTool(app.Context, c.Tool, given)
	return answer(app, document, err)
}

// object makes one JSON object of the command line's arguments, whose texts take the types that the tool has for them.
func (c *callCommand) object(app *cli.App, options veloflux.Options) (json.RawMessage, error) {
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
	schema, err := c.schema(options)
	if err != nil {
		return nil, err
	}
	object := make(map[string]json.RawMessage, len(list))
	for _, a := range list {
		value, ok := a.JSON, true
		if value == nil {
			value, ok = toolargs.FromText(toolargs.Property(schema, a.Key), a.Text)
		}
		if !ok {
			value = rawjson.Quote(a.Text) // the tool says what it wants
		}
		object[a.Key] = value
	}
	return rawjson.Marshal(object)
}

// schema is the tool's input schema, which does not exist for a tool that there is not.
func (c *callCommand) schema(options veloflux.Options) (gjson.Result, error) {
	tools, err := veloflux.Tools(options)
	if err != nil {
		return gjson.Result{}, err
	}
	for _, t := range tools {
		if t.Name == c.Tool {
			return gjson.ParseBytes(t.InputSchema), nil
		}
	}
	return gjson.Result{}, nil
}
