package mcpclient

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Answer is the result of a tool call in the server's bytes, so that numbers keep their spelling.
type Answer struct {
	// IsError means that the tool itself failed. Its message is in the content.
	IsError bool
	// Structured is the structuredContent, or nil.
	Structured json.RawMessage
	// Content holds the blocks (text, image, audio, resource_link, resource), each a JSON object.
	Content []json.RawMessage
}

// parseAnswer parses the result of tools/call.
func parseAnswer(result json.RawMessage) *Answer {
	a := &Answer{}
	gjson.ParseBytes(result).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "isError":
			a.IsError = value.Bool()
		case "structuredContent":
			if value.Type != gjson.Null {
				a.Structured = json.RawMessage(value.Raw)
			}
		case "content":
			value.ForEach(func(_, block gjson.Result) bool {
				a.Content = append(a.Content, json.RawMessage(block.Raw))
				return true
			})
		}
		return true
	})
	return a
}

// Result returns the `result` output of an MCP node as JSON: the structured content, else the only content block, else
// the list of blocks, else null. A text block becomes its text, or the object or list if the text is the JSON of one. Any
// other block is the block's object.
func (a *Answer) Result() json.RawMessage {
	if a.Structured != nil {
		return a.Structured
	}
	switch len(a.Content) {
	case 0:
		return json.RawMessage("null")
	case 1:
		return blockValue(a.Content[0])
	}
	var list bytes.Buffer
	for i, block := range a.Content {
		list.WriteByte("[,"[min(i, 1)])
		list.Write(blockValue(block))
	}
	list.WriteByte(']')
	return list.Bytes()
}

func blockValue(block json.RawMessage) json.RawMessage {
	b := gjson.ParseBytes(block)
	if b.Get("type").Str != "text" {
		return block
	}
	text := b.Get("text")
	inner := strings.TrimSpace(text.Str)
	if (strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[")) && json.Valid([]byte(inner)) {
		return json.RawMessage(inner)
	}
	if text.Type != gjson.String {
		return json.RawMessage(`""`)
	}
	return json.RawMessage(text.Raw)
}

// Text returns the text blocks joined by newlines.
func (a *Answer) Text() string {
	var texts []string
	for _, block := range a.Content {
		if b := gjson.ParseBytes(block); b.Get("type").Str == "text" {
			texts = append(texts, b.Get("text").Str)
		}
	}
	return strings.Join(texts, "\n")
}

// Failure returns an execution_error with the tool's message if the tool itself failed, else nil. The message comes from
// an error object in the structured content, such as {"error":{"message":…}}, or from the text.
func (a *Answer) Failure(server, tool string) *fault.Fault {
	if !a.IsError {
		return nil
	}
	text := strings.TrimSpace(a.Text())
	for _, path := range []string{"error.message", "error_message", "message"} {
		if said := gjson.GetBytes(a.Structured, path); said.Type == gjson.String && said.Str != "" {
			text = said.Str
			break
		}
	}
	if text == "" {
		text = "the tool reported an error without a message"
	}
	return fault.New(fault.Execution, "MCP tool failed: %s", text).Detail("server", server).Detail("tool", tool)
}
