package suitetools

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// syncServer is the tool sync_server.
func syncServer(f *Front) mcpserver.Tool {
	return mcpserver.Tool{
		Name: "sync_server", Title: "Make a server's tools node types",
		Description: "Make the tools of a configured MCP server node types: starts the server, lists its tools, and registers each as mcp-SERVER-TOOL. " +
			"Node types of tools that the server no longer has are removed.",
		InputSchema: schema(`{"type":"object","properties":{` + serverArgument + `,` +
			`"replace":{"type":"boolean","default":false,"description":"also replace entries of these tools that another program has written"}},"required":["server"],"additionalProperties":false}`),
		OutputSchema: outputSchema(`"tools_discovered":{"type":"integer"},"tools_registered":{"type":"integer"},"tools_removed":{"type":"integer"},` +
			`"servers":{"type":"array","items":{"type":"object"}}`),
		Destructive: true, Idempotent: true, OpenWorld: true,
		Call: summarized(document[syncServerArguments](f), syncedServer),
	}
}

type syncServerArguments struct {
	Server  string `json:"server"`
	Replace bool   `json:"replace"`
}

func (a syncServerArguments) command() command {
	args := []string{"sync", "--format", "json"}
	if a.Replace {
		args = append(args, "--replace")
	}
	return command{program: "pflow-sync", args: append(args, "--", a.Server), long: true}
}

// syncedServer is the summary of an answer.
func syncedServer(document json.RawMessage) string {
	n := gjson.GetManyBytes(document, "tools_registered", "tools_removed", "servers.0.server")
	return fmt.Sprintf("%d tools of %s are node types, %d were removed. browse_components finds them.", n[0].Int(), n[2].Str, n[1].Int())
}
