package mcpclient

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Answer is what a tool gave back, in the server's own spelling: numbers are as they stood on the wire.
type Answer struct {
	// IsError says that the tool itself failed; what it said stands in the content.
	IsError bool
	// Structured is structuredContent, or nil.
	Structured json.RawMessage
	// Content holds the blocks (text, image, audio, resource_link, resource), each a JSON object.
	Content []json.RawMessage
}

// parseAnswer takes the result of tools/call apart.
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

// Result is the `result` of an MCP node, as JSON: the structured content if there is any; else the one content block,
// or a list when there are several, or null when there is none. A text block is its text, or the object or list that
// the text is the JSON of; any other block is the object itself.
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

// Text joins the text blocks with newlines.
func (a *Answer) Text() string {
	var texts []string
	for _, block := range a.Content {
		if b := gjson.ParseBytes(block); b.Get("type").Str == "text" {
			texts = append(texts, b.Get("text").Str)
		}
	}
	return strings.Join(texts, "\n")
}

// Failure is nil unless the tool failed by its own account: then an execution_error with what it said. Of a tool that
// answers with an error object, such as {"error":{"message":…}}, that is the message.
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
		text = "the tool reported an error without a word about it"
	}
	return fault.New(fault.Execution, "MCP tool failed: %s", text).Detail("server", server).Detail("tool", tool)
}
