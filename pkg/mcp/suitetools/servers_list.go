package suitetools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// listServers is the tool list_servers.
func listServers(f *Front) mcpserver.Tool {
	return mcpserver.Tool{
		Name: "list_servers", Title: "List MCP servers",
		Description: "List the MCP servers that are configured, each with the number of its tools that are node types. Nothing is started.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + limitProperty("servers") + `,` + cursorProperty + `},"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"servers":{"type":"array","items":{"type":"object","properties":{"server":{"type":"string"},"transport":{"type":"string"},` +
			`"tools":{"type":"integer"},"error":{"type":"object"}},"required":["server"]}},"warnings":{"type":"array","items":{"type":"object"},"description":"what could not be read"},` + pageProperties),
		ReadOnly: true, Idempotent: true,
		Call: summarized(document[listServersArguments](f), listedServers),
	}
}

type listServersArguments struct{ pageArguments }

func (a listServersArguments) command() suite.Command {
	return suite.Command{Program: "pflow-sync", Args: append([]string{"list", "--format", "json"}, a.flags()...)}
}

// listedServers is the summary of an answer, with the servers that cannot be used.
func listedServers(document json.RawMessage) string {
	lines := []string{pageSummary(gjson.ParseBytes(document), "servers", "server")}
	broken := gjson.GetBytes(document, "servers.#(error)#").Array()
	for _, server := range broken[:min(len(broken), maxListed)] {
		lines = append(lines, fmt.Sprintf("%s cannot be used: %s", server.Get("server").Str, fault.Truncate(server.Get("error.message").Str, 300)))
	}
	if more := len(broken) - maxListed; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more that cannot be used", more))
	}
	return strings.Join(lines, "\n")
}
