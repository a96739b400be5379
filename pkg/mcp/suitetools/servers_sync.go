package suitetools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// syncServer is the tool sync_server.
func syncServer(f *Front) mcpserver.Tool {
	return mcpserver.Tool{
		Name: "sync_server", Title: "Make a server's tools node types",
		Description: "Make the tools of a configured MCP server node types: starts the server, lists its tools, and registers each as mcp-SERVER-TOOL. " +
			"Node types of tools that the server no longer has are removed.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + serverArgument + `,` +
			`"replace":{"type":"boolean","default":false,"description":"also replace entries of these tools that another program has written"}},"required":["server"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"tools_discovered":{"type":"integer"},"tools_registered":{"type":"integer"},"tools_removed":{"type":"integer"},` +
			`"servers":{"type":"array","items":{"type":"object"}},"corrupt":{"type":"string","description":"the file to which a corrupt registry was moved"}`),
		Destructive: true, Idempotent: true, OpenWorld: true,
		Call: summarized(document[syncServerArguments](f), syncedServer),
	}
}

type syncServerArguments struct {
	Server  string `json:"server"`
	Replace bool   `json:"replace"`
}

func (a syncServerArguments) command() suite.Command {
	args := []string{"sync", "--format", "json"}
	if a.Replace {
		args = append(args, "--replace")
	}
	return suite.Command{Program: "pflow-sync", Args: append(args, "--", a.Server), Long: true}
}

// syncedServer is the summary of an answer: how many tools are node types, and what of that a client may not expect.
func syncedServer(document json.RawMessage) string {
	fields := gjson.GetManyBytes(document, "tools_registered", "tools_removed", "servers.0", "corrupt")
	server := fields[2]
	lines := []string{fmt.Sprintf("%d tools of %s are node types, %d were removed. browse_components finds them.", fields[0].Int(), server.Get("server").Str, fields[1].Int())}
	for _, list := range []struct{ names, text string }{
		{"overwritten", "The definitions of these node types have changed: %s"},
		{"renamed.#.to", "These node types have new names, which workflows must use: %s"},
		{"kept", "These tools were left out, because another program has written their entries, which replace set to true replaces: %s"},
	} {
		if names := server.Get(list.names).Array(); len(names) > 0 {
			lines = append(lines, fmt.Sprintf(list.text, listed(names)))
		}
	}
	if file := fields[3].Str; file != "" {
		lines = append(lines, fmt.Sprintf("The registry was corrupt: it was moved to %s in pflow's home folder, and a new one was begun. "+
			"The node types of other servers are missing until sync_server is called for them.", file))
	}
	return strings.Join(lines, "\n")
}
