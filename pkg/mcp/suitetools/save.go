package suitetools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// save is the tool save_to_library.
func (f *Front) save() mcpserver.Tool {
	return mcpserver.Tool{
		Name: "save_to_library", Title: "Save a draft",
		Description: "Save a draft: check it and move it into the library under its final name, with the files that it refers to. " +
			"The answer names what the workflow needs (dependencies): node types, MCP servers, other workflows, settings. " +
			"A name that is in use is an error, and nothing is changed.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"draft_name":{"type":"string","description":"the draft's name"},` +
			`"final_name":{"type":"string","description":"the name to save it under: lower-case words joined by hyphens"},` +
			`"description":{"type":"string","description":"what the workflow is for, in a sentence"}},"required":["draft_name","final_name","description"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"success":{"type":"boolean"},"name":{"type":"string"},"path":{"type":"string"},"files":{"type":"array","items":{"type":"string"}},` +
			`"not_bundled":{"type":"array","items":{"type":"object"}},"dependencies":{"type":"object","description":"node_types, servers (configured or not), workflows, settings (set or not)"}`),
		Call: summarized(func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
			r := document[saveArguments](f)(ctx, call)
			if f.Workflows != nil && !r.IsError {
				_, _ = f.Workflows.Refresh(ctx) // the new tool can be called at once; a failure shows at the next refresh
			}
			return r
		}, saved),
	}
}

// saved is the summary of an answer.
func saved(document json.RawMessage) string {
	fields := gjson.GetManyBytes(document, "name", "path", "not_bundled.#.message")
	lines := []string{fmt.Sprintf("Saved as %s in %s. To run it: execute with name %q.", fields[0].Str, fields[1].Str, fields[0].Str)}
	for _, message := range fields[2].Array() {
		lines = append(lines, message.Str)
	}
	return strings.Join(append(lines, missing(document)...), "\n")
}

type saveArguments struct {
	DraftName   string `json:"draft_name"`
	FinalName   string `json:"final_name"`
	Description string `json:"description"`
}

func (a saveArguments) command() suite.Command {
	return suite.Command{Program: "pflow-lib", Args: []string{"save", "--format", "json", "--description=" + a.Description, "--", a.DraftName, a.FinalName}}
}
