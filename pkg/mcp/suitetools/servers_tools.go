package suitetools

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// listServerTools is the tool list_server_tools.
func listServerTools(f *Front) mcpserver.Tool {
	return mcpserver.Tool{
		Name: "list_server_tools", Title: "List tools of MCP servers",
		Description: "List the tools of MCP servers that are node types, all or those of one server; with tool, only that one, with its parameters. No server is started.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + serverArgument + `,` + toolArgument + `,` + limitProperty("tools") + `,` + cursorProperty + `},"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"tools":{"type":"array","items":{"type":"object","properties":{"server":{"type":"string"},"tool":{"type":"string"},"node_type":{"type":"string"},` +
			`"description":{"type":"string"},"inputs":{"type":"array","items":{"type":"object"}}},"required":["server","tool"]}},"warnings":{"type":"array","items":{"type":"object"},"description":"what could not be read"},` + pageProperties),
		ReadOnly: true, Idempotent: true,
		Call: summarized(document[listServerToolsArguments](f), listedTools),
	}
}

type listServerToolsArguments struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	pageArguments
}

func (a listServerToolsArguments) command() suite.Command {
	args := append([]string{"tools", "--format", "json"}, a.flags()...)
	return suite.Command{Program: "pflow-sync", Args: append(args, "--", a.Server, a.Tool)} // empty ones are all
}

// listedTools is the summary of an answer.
func listedTools(document json.RawMessage) string {
	return pageSummary(gjson.ParseBytes(document), "tools", "node_type")
}
