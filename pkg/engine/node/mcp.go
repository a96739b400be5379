package node

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// runTool calls a tool of an MCP server. The run's nodes share one session of each server.
func runTool(ctx context.Context, p *Call, t *Task) *Result {
	tool := p.kind.MCP
	session, err := t.Servers.Session(ctx, tool.Server)
	if err != nil {
		return failed(toolFault(err), toolOutputs(nil, err.Error()))
	}
	name, schema := tool.Tool, tool.OutputSchema
	if tool.Respelled {
		found, err := session.FindTool(ctx, name)
		if err != nil {
			return failed(toolFault(err), toolOutputs(nil, err.Error()))
		}
		name, schema = found.Name, found.OutputSchema
	}
	reply, err := session.CallWithin(ctx, t.Timeout, name, p.Params, t.Progress)
	if err != nil {
		return failed(toolFault(err), toolOutputs(nil, err.Error()))
	}
	t.large(reply.Size())
	result := reply.Render(schema, func(value json.RawMessage) json.RawMessage { return storedValue(value, reply.Content) }, storedBlock)
	if _, f := t.count(len(result)); f != nil {
		return failed(f, toolOutputs(nil, f.Message))
	}
	if reply.IsError {
		return failed(reply.Failure(tool.Server, name), toolOutputs(result, reply.Text()))
	}
	return succeeded(toolOutputs(result, ""))
}

// storedBlock returns a block of a result as a value of the stream, in which binary content is bytes with a content type.
func storedBlock(block json.RawMessage) json.RawMessage {
	block = event.Escape(block)
	binary, content, ok := bytesOf(block)
	if !ok {
		return block
	}
	return slices.Concat(block[:binary.Start], content, block[binary.End:])
}

// storedValue returns structured content, or the value of a text, as a value of the stream. Servers repeat their blocks in
// structured content, so the binary content of a block is bytes there too.
func storedValue(value json.RawMessage, blocks []json.RawMessage) json.RawMessage {
	value = event.Escape(value)
	for _, block := range blocks {
		binary, content, ok := bytesOf(block)
		if !ok || len(binary.Base64) < 16 { // a short text may be the same by chance
			continue
		}
		value = bytes.ReplaceAll(value, slices.Concat([]byte(":"), block[binary.Start:binary.End]), slices.Concat([]byte(":"), content))
	}
	return value
}

// bytesOf returns the binary content of a block as a value of the stream. ok is false if it has none that is base64.
func bytesOf(block json.RawMessage) (binary mcpclient.Binary, content json.RawMessage, ok bool) {
	if binary, ok = mcpclient.BinaryOf(block); ok {
		content, ok = event.Bytes(binary.Base64, binary.MIMEType)
	}
	return binary, content, ok
}

// toolOutputs returns the outputs of a tool: result, error, and each field of an object result under its own name. A field
// named result or error is found under result only.
func toolOutputs(result json.RawMessage, failure string) json.RawMessage {
	if result == nil {
		result = json.RawMessage("null")
	}
	message := json.RawMessage("null")
	if failure != "" {
		message = rawjson.Quote(failure)
	}
	out := append([]byte(`{"result":`), result...)
	out = append(append(out, `,"error":`...), message...)
	if v := gjson.ParseBytes(result); v.IsObject() {
		v.ForEach(func(k, item gjson.Result) bool {
			if k.Str != "result" && k.Str != "error" {
				out = append(append(append(append(out, ','), k.Raw...), ':'), item.Raw...)
			}
			return true
		})
	}
	return append(out, '}')
}

// toolFault returns a server's fault as a node's: not_found, usage_error and validation_error, which mean a refused run,
// become execution_error.
func toolFault(err error) *fault.Fault {
	f := *fault.From(err)
	if f.Type == fault.NotFound || f.Type == fault.Usage || f.Type == fault.Validation {
		f.Type = fault.Execution
	}
	return &f
}
