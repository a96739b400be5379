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
// other block is the block's object. outputSchema is that of the tool, or nil: if it wraps a value in an object, the result is the
// value (see Unwrap).
func (a *Answer) Result(outputSchema json.RawMessage) json.RawMessage {
	same := func(value json.RawMessage) json.RawMessage { return value }
	return a.Render(outputSchema, same, same)
}

// Render returns the result with each part replaced: value replaces structured content and texts, and block replaces blocks
// that are not text.
func (a *Answer) Render(outputSchema json.RawMessage, value, block func(json.RawMessage) json.RawMessage) json.RawMessage {
	if a.Structured != nil {
		return value(Unwrap(outputSchema, a.Structured))
	}
	part := func(b json.RawMessage) json.RawMessage {
		if gjson.GetBytes(b, "type").Str == "text" {
			return value(textValue(b))
		}
		return block(b)
	}
	switch len(a.Content) {
	case 0:
		return json.RawMessage("null")
	case 1:
		return part(a.Content[0])
	}
	var list bytes.Buffer
	for i, b := range a.Content {
		list.WriteByte("[,"[min(i, 1)])
		list.Write(part(b))
	}
	list.WriteByte(']')
	return list.Bytes()
}

// textValue returns the value of a text block.
func textValue(block json.RawMessage) json.RawMessage {
	text := gjson.GetBytes(block, "text")
	inner := strings.TrimSpace(text.Str)
	if (strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[")) && json.Valid([]byte(inner)) {
		return json.RawMessage(inner)
	}
	if text.Type != gjson.String {
		return json.RawMessage(`""`)
	}
	return json.RawMessage(text.Raw)
}

// Size returns the length of the answer in bytes.
func (a *Answer) Size() int {
	n := len(a.Structured)
	for _, block := range a.Content {
		n += len(block)
	}
	return n
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

// Failure returns an execution_error with the beginning of the tool's message if the tool itself failed, else nil. The message comes from
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
	return fault.New(fault.Execution, "MCP tool failed: %s", fault.Truncate(text, maxSaid)).Detail("server", server).Detail("tool", tool)
}
