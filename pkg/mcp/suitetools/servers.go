package suitetools

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// servers returns the tools for the MCP servers that are configured.
func servers(f *Front) []mcpserver.Tool {
	return []mcpserver.Tool{listServers(f), syncServer(f), listServerTools(f), callServerTool(f)}
}

const serversInstructions = `MCP servers: list_servers lists those that are configured. sync_server makes a server's tools node types, list_server_tools lists them, and call_server_tool calls one outside of a workflow.`

// The schemas of arguments that several of the tools have. A name never begins with a hyphen, because pflow-sync call takes
// -- before a command instead of a server.
const (
	serverArgument = `"server":{"type":"string","pattern":"^[a-z0-9]+(-[a-z0-9]+)*$","description":"the name of a configured server"}`
	toolArgument   = `"tool":{"type":"string","pattern":"^[^-]","description":"a tool, as its server names it"}`
)

// pageSummary returns the summary of a page: the names of its entries, how many there are in all, and where to go on.
func pageSummary(document gjson.Result, what, name string) string {
	names := document.Get(what + ".#." + name).Array()
	lines := []string{fmt.Sprintf("%d of %d %s", len(names), document.Get("total").Int(), what)}
	if len(names) > 0 {
		lines[0] += ": " + listed(names)
	}
	if document.Get("next_cursor").Exists() {
		lines = append(lines, "More: cursor with next_cursor continues.")
	}
	for _, warning := range document.Get("warnings.#.message").Array() {
		lines = append(lines, warning.Str)
	}
	return strings.Join(lines, "\n")
}
