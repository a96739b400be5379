package main

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/source"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// tools prints every saved workflow as a tool.
func (c *listCommand) tools(app *cli.App) error {
	if c.Pattern != "" || c.Limit >= 0 || c.Cursor != "" || app.MaxBytes > 0 {
		return fault.New(fault.Usage, "--tools lists every saved workflow: it takes no pattern, --limit, --cursor or --max-bytes").
			Suggest("Choose among the tools where they are offered, or list the workflows without --tools")
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	configured, err := settings.Load(h)
	if err != nil {
		return err
	}
	if c.Source != "" {
		return toolsOfSource(app, h, c.Source, redact.For(configured.Env, app.Env))
	}
	lib, _, err := open(app)
	if err != nil {
		return err
	}
	saved, err := lib.List(false, "")
	if err != nil {
		return err
	}
	isSet := func(input string) bool {
		_, inEnv := configured.Env[input]
		_, inVars := configured.Vars[input]
		return inEnv || inVars || app.Getenv(input) != ""
	}
	tools, secrets := []json.RawMessage{}, redact.For(configured.Env, app.Env)
	for _, w := range saved {
		if w.Error != nil {
			app.Warn("Workflow %s is not among the tools: %s", w.Name, w.Error.Message)
			continue
		}
		tool, err := withoutRequired(w.Tool, isSet)
		if err != nil {
			return err
		}
		tool, _ = secrets.JSON(tool)
		tools = append(tools, tool)
	}
	return app.JSONLine(tools)
}

// toolsOfSource prints the workflows of a source. Its values are not checked: that is up to those who offer them.
func toolsOfSource(app *cli.App, h *home.Home, name string, secrets *redact.Redactor) error {
	s, err := source.Find(h, name)
	if err != nil {
		return err
	}
	suite, err := app.Suite()
	if err != nil {
		return err
	}
	array, err := s.Workflows(app.Context, source.Host{Dir: h.Dir(), Env: app.Env, Suite: suite})
	if err != nil {
		if app.Context.Err() != nil {
			return err
		}
		return secrets.Fault(fault.From(err))
	}
	array, _ = secrets.JSON(array)
	return app.JSONLine(array)
}

// withoutRequired returns a tool whose schema does not require the inputs that are set elsewhere.
func withoutRequired(tool json.RawMessage, isSet func(input string) bool) (json.RawMessage, error) {
	const path = "inputSchema.required"
	var required []string
	for _, input := range gjson.GetBytes(tool, path).Array() {
		required = append(required, input.String())
	}
	left := slices.DeleteFunc(slices.Clone(required), isSet)
	switch {
	case len(left) == len(required):
		return tool, nil
	case len(left) == 0:
		return sjson.DeleteBytes(tool, path)
	}
	return sjson.SetBytes(tool, path, left)
}
