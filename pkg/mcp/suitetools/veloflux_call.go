package suitetools

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// velofluxCall is the tool veloflux_call.
func velofluxCall(f *Front) mcpserver.Tool {
	return mcpserver.Tool{
		Name: "veloflux_call", Title: "Call a veloFlux tool",
		Description: "Call a tool of the veloFlux Manager: pipelines.verify {sql} checks SQL and leaves nothing behind. " +
			"pipelines.create {id, sql, sinks}, pipelines.delete, pipelines.get, pipelines.explain and pipelines.stats {pipeline_id}, pipelines.list; " +
			"streams.list, streams.describe {name}; functions.describe {name}, catalog.functions, catalog.syntax_capabilities. " +
			"A failure has the error {error_code, error_message, details}.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + toolArgument + `,` +
			`"arguments":{"type":"object","description":"the tool's arguments by name"}},"required":["tool"],"additionalProperties":false}`),
		OutputSchema: velofluxSchema(),
		Destructive:  true, OpenWorld: true,
		Call: summarized(document[velofluxCallArguments](f), beginning),
	}
}

type velofluxCallArguments struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

func (a velofluxCallArguments) command() suite.Command {
	arguments := a.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	return suite.Command{Program: "veloflux-mcp", Args: []string{"call", "--format", "json", "--", a.Tool, "-"}, Stdin: arguments}
}
