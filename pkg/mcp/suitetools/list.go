package suitetools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// list is the tool list_library.
func (f *Front) list() mcpserver.Tool {
	return mcpserver.Tool{
		Name: "list_library", Title: "List saved workflows",
		Description: "List the saved workflows by name, with their descriptions, or those that match a pattern. An answer is a page of at most 8 kB: " +
			"total counts all, and next_cursor, given back as cursor, continues. A workflow whose file is broken is listed with its error. " +
			"browse_components finds workflows by words, drafts too; describe_workflow shows how to call one.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string","description":"words that the name or the description must contain, or a pattern with * and ? for the name. By default all are listed"},` +
			limitProperty("workflows") + `,` + cursorProperty + `},"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"workflows":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},` +
			`"saved":{"type":"boolean"},` +
			`"truncated":{"type":"boolean","description":"the description is cut"},"error":{"type":"object","description":"why the file cannot be used"}}}},` + pageProperties),
		ReadOnly: true, Idempotent: true,
		Call: f.callList,
	}
}

type listArguments struct {
	Pattern string `json:"pattern"`
	pageArguments
}

func (a listArguments) command() suite.Command {
	args := append([]string{"list", "--format", "json"}, a.flags()...)
	if a.Pattern != "" {
		args = append(args, "--", a.Pattern)
	}
	return suite.Command{Program: "pflow-lib", Args: args}
}

// callList answers list_library with the array of a page as text. The structured content is an object with the array, because
// revisions before 2026-07-28 allow only objects there. A client without structured content gets the rest of the object as a
// second text.
func (f *Front) callList(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
	r := document[listArguments](f)(ctx, call)
	if r.IsError {
		return r
	}
	fields := gjson.GetManyBytes(r.Structured, "workflows", "total", "next_cursor")
	if !fields[0].IsArray() {
		return r
	}
	r.Text, r.Supplement = fields[0].Raw, fmt.Sprintf(`{"total":%d}`, fields[1].Int())
	if next := fields[2]; next.Exists() {
		r.Supplement = fmt.Sprintf(`{"total":%d,"next_cursor":%s}`, fields[1].Int(), json.RawMessage(next.Raw))
	}
	return r
}
