package main

import (
	"encoding/json"
	"errors"

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
	Arguments []string `arg:"" optional:"" name:"key=value" help:"KEY=VALUE is text that is converted to the argument's type, KEY:=JSON a JSON value, KEY=@FILE the text of a file (KEY=@- that of standard input); - reads one JSON object from standard input."`
}

// Help is the longer text of --help.
func (callCommand) Help() string {
	return `Prints the tool's answer as one JSON document, or {"success":false,"error":{"error_code","error_message","details"}}.
Exit status: 0 for success, 2 for wrong arguments (invalid_params), 124 if time ran out (timeout), 1 for any other failure.`
}

// Run calls the tool.
func (c *callCommand) Run(app *cli.App) error {
	options := c.options()
	options.ToolNames = veloflux.NamesBoth
	given, err := c.object(app, options)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Type == fault.Validation { // too much of them
		return printAnswer(app, nil, &veloflux.Error{Code: veloflux.CodeInvalidParams, Message: f.Message})
	}
	if err != nil {
		return err
	}
	runtime, release, err := c.runtime(app, options)
	if err != nil {
		return err
	}
	defer release()
	document, err := runtime.CallTool(app.Context, c.Tool, given)
	return printAnswer(app, document, err)
}

// object makes one JSON object from the arguments of the command line. Texts are converted to the types that the tool
// wants.
func (c *callCommand) object(app *cli.App, options veloflux.Options) (json.RawMessage, error) {
	if len(c.Arguments) == 1 && c.Arguments[0] == "-" {
		return app.ReadObject()
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
			value = rawjson.Quote(a.Text) // the tool reports what it wants
		}
		object[a.Key] = value
	}
	return rawjson.Marshal(object)
}

// schema returns the tool's input schema, or the zero value for an unknown tool.
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
