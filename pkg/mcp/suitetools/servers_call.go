package suitetools

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// callServerTool is the tool call_server_tool.
func callServerTool(f *Front) mcpserver.Tool {
	return mcpserver.Tool{
		Name: "call_server_tool", Title: "Call a tool of an MCP server",
		Description: "Call one tool of a configured MCP server, outside of a workflow, and return its result. The server is started for this call. " +
			"Of a result over max_bytes only the beginning is returned, as text in result_head: ask for more before the call if the tool may not be called twice.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + serverArgument + `,` + toolArgument + `,` +
			`"arguments":{"type":"object","description":"the tool's arguments by name"},` +
			`"max_bytes":{"type":"integer","minimum":0,"default":8192,"description":"the most bytes of the answer; less than 1024 is 1024, and 0 returns everything"}},"required":["server","tool"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"success":{"type":"boolean"},"is_error":{"type":"boolean"},"server":{"type":"string"},"tool":{"type":"string"},` +
			`"result":{"description":"what the tool returned"},"content":{"type":"array","items":{"type":"object"}},` +
			`"result_bytes":{"type":"integer"},"result_head":{"type":"string","description":"the beginning of a result that is too long"}`),
		Destructive: true, OpenWorld: true,
		Call: summarized(document[callServerToolArguments](f), calledTool),
	}
}

type callServerToolArguments struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	MaxBytes  *int            `json:"max_bytes"`
}

func (a callServerToolArguments) command() suite.Command {
	arguments := a.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	return suite.Command{
		Program: "pflow-sync", Long: true, Stdin: arguments,
		Args: []string{"call", "--format", "json", limitFlag(pageBytes(a.MaxBytes)), "--", a.Server, a.Tool, "-"},
	}
}

// summaryBytes is the most bytes of a result that a summary repeats.
const summaryBytes = 500

// calledTool is the summary of an answer.
func calledTool(document json.RawMessage) string {
	r := gjson.GetManyBytes(document, "tool", "server", "result", "result_head")
	said := fault.Truncate(cmp.Or(r[3].Str, r[2].String()), summaryBytes)
	return fmt.Sprintf("%s of %s returned: %s", r[0].Str, r[1].Str, said)
}
