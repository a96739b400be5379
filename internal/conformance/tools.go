// Package conformance is an MCP server with the tools, prompts and resources that the protocol's conformance suite
// (@modelcontextprotocol/conformance) calls. It is made of the packages that pflow-serve is made of, so that what the suite holds of it holds of
// pflow-serve. What pflow-serve never does, such as asking the client for a completion of its model, is left out: docs/conformance.md
// lists it.
package conformance

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// New returns the server.
func New() (*mcpserver.Server, error) {
	tasks := newTasks()
	config := mcpserver.Config{
		Name: "conformance", Version: "1.0.0", Tasks: tasks, ToolsChange: true, PromptsChange: true,
		Prompts: prompts(), Resources: resources(),
	}
	config.Tools = append(append(contentTools(), tasks.tools()...), inputTools(tasks)...)
	var server *mcpserver.Server
	config.Tools = append(config.Tools, tool("test_trigger_tool_change", "Changes the list of tools", func(context.Context, *mcpserver.Call) *mcpserver.Result {
		err := server.AddTools(say("transient", "Comes and goes", "here"))
		server.RemoveTools("transient")
		return done(err)
	}), tool("test_trigger_prompt_change", "Changes the list of prompts", func(context.Context, *mcpserver.Call) *mcpserver.Result {
		err := server.AddPrompts(prompt("transient"))
		server.RemovePrompts("transient")
		return done(err)
	}))
	var err error
	server, err = mcpserver.New(config)
	return server, err
}

// tool returns a tool without arguments.
func tool(name, description string, call func(context.Context, *mcpserver.Call) *mcpserver.Result) mcpserver.Tool {
	return mcpserver.Tool{Name: name, Description: description, InputSchema: json.RawMessage(`{"type":"object"}`), Call: call}
}

// say returns a tool that answers a text.
func say(name, description, text string) mcpserver.Tool {
	return tool(name, description, func(context.Context, *mcpserver.Call) *mcpserver.Result { return &mcpserver.Result{Text: text} })
}

// The blocks of an image of one red pixel, and of a sound without samples.
const (
	image = `{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"}`
	sound = `{"type":"audio","mimeType":"audio/wav","data":"UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="}`
)

// blocks returns a tool that answers a text and further blocks.
func blocks(name, description string, further ...string) mcpserver.Tool {
	return tool(name, description, func(context.Context, *mcpserver.Call) *mcpserver.Result {
		r := &mcpserver.Result{Text: "Multiple content types test:"}
		for _, block := range further {
			r.Blocks = append(r.Blocks, json.RawMessage(block))
		}
		return r
	})
}

// done returns the result of a change.
func done(err error) *mcpserver.Result {
	if err != nil {
		return &mcpserver.Result{Text: err.Error(), IsError: true}
	}
	return &mcpserver.Result{Text: "changed"}
}

// schema2020 is the schema that the scenario json-schema-2020-12 wants to see unchanged.
const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
	"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
	"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
		"phone":{"type":"string"},"email":{"type":"string"}},
	"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
	"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
	"additionalProperties":false}`

// contentTools returns the tools that differ in what they answer.
func contentTools() []mcpserver.Tool {
	const withHeader = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`
	echo := say("json_schema_2020_12_tool", "Has a schema with all that JSON Schema 2020-12 knows", "ok")
	echo.InputSchema = json.RawMessage(schema2020)
	mirrored := say("test_x_mcp_header", "Has an argument that is also a header", "ok")
	mirrored.InputSchema = json.RawMessage(withHeader)
	return []mcpserver.Tool{
		echo, mirrored,
		say("test_simple_text", "Answers a text", "This is a simple text response for testing."),
		blocks("test_image_content", "Answers an image", image),
		blocks("test_audio_content", "Answers a sound", sound),
		blocks("test_embedded_resource", "Answers the content of a resource", `{"type":"resource","resource":{"uri":"test://embedded-resource","mimeType":"text/plain","text":"This is an embedded resource content."}}`),
		blocks("test_multiple_content_types", "Answers a text, an image and the content of a resource", image,
			`{"type":"resource","resource":{"uri":"test://mixed-content-resource","mimeType":"application/json","text":"{\"test\":\"data\",\"value\":123}"}}`),
		tool("test_error_handling", "Fails", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return &mcpserver.Result{Text: "This tool intentionally returns an error for testing", IsError: true}
		}),
		tool("test_missing_capability", "Needs a client with sampling", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return &mcpserver.Result{Err: &mcpserver.Error{
				Kind: mcpserver.MissingCapability, Message: "The tool needs the client capability sampling", Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
			}}
		}),
		tool("test_tool_with_progress", "Reports progress", progress),
		tool("test_streaming_elicitation", "Reports progress", progress),
		say("test_logging_tool", "Logs nothing", "ok"),
	}
}

// progress reports three steps.
func progress(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
	for _, step := range []float64{0, 50, 100} {
		call.Progress(step, 100, "")
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return &mcpserver.Result{Text: "done"}
}
