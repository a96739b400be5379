package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// runTool calls a tool of an MCP server. The run's nodes share one session of each server.
func runTool(ctx context.Context, p *Call, t *Task) *Result {
	tool := *p.kind.MCP
	replies, f := toolReplies(t.Answer)
	if f != nil {
		return failed(f, toolOutputs(nil, f.Message))
	}
	request := mcpclient.Request{Arguments: p.Params, Limit: t.Timeout, Progress: t.Progress, Replies: replies, Log: t.Stderr}
	reply, err := callTool(ctx, t.Servers, &tool, request)
	for {
		if _, again := errors.AsType[*mcpclient.Again](err); !again {
			break
		}
		request.Alone = true
		reply, err = callTool(ctx, t.Servers, &tool, request)
	}
	if asked, ok := errors.AsType[*mcpclient.Asked](err); ok {
		return askedByTool(tool.Server, replies, asked.Question)
	}
	if err != nil {
		return failed(toolFault(err), toolOutputs(nil, err.Error()))
	}
	t.large(reply.Size())
	binaries := binariesOf(reply.Content)
	result := reply.Render(tool.OutputSchema, func(value json.RawMessage) json.RawMessage { return storedValue(value, binaries) }, storedBlock)
	links, more := event.Escape(reply.Links()), blocksBeside(reply)
	if _, f := t.count(len(result) + len(links) + len(more)); f != nil {
		return failed(f, toolOutputs(nil, f.Message))
	}
	if reply.IsError {
		return failed(reply.Failure(tool.Server, tool.Tool), toolOutputs(result, reply.Text()))
	}
	return succeeded(withList(withList(toolOutputs(result, ""), "resource_links", links), "content", more))
}

// callTool makes one call of a tool, in the current session with its server. If the name of the tool is respelled in its node type,
// callTool looks it up there and completes tool.
func callTool(ctx context.Context, servers *mcpclient.Pool, tool *nodetype.MCP, request mcpclient.Request) (*mcpclient.Answer, error) {
	session, err := servers.Session(ctx, tool.Server)
	if err != nil {
		return nil, err
	}
	if tool.Respelled {
		found, err := session.FindTool(ctx, tool.Tool)
		if err != nil {
			return nil, err
		}
		tool.Tool, tool.OutputSchema, tool.Respelled = found.Name, found.OutputSchema, false
	}
	request.Tool = tool.Tool
	return session.Do(ctx, request)
}

// withList adds an output that is a list: resource_links, the links to resources in a tool's result, or content, its blocks beside
// structured content. A field of that name in the result stays.
func withList(outputs json.RawMessage, name string, list json.RawMessage) json.RawMessage {
	if len(list) == 0 || gjson.GetBytes(outputs, name).Exists() {
		return outputs
	}
	return slices.Concat(outputs[:len(outputs)-1], []byte(`,"`+name+`":`), list, []byte("}"))
}

// blocksBeside returns the list of the blocks that a result has beside structured content: images, audio and files that are not in
// it too. It returns nil for a result without such blocks.
func blocksBeside(reply *mcpclient.Answer) json.RawMessage {
	var list []byte
	for _, block := range reply.Content {
		binary, isBinary := mcpclient.BinaryOf(block)
		isFile := gjson.GetBytes(block, "type").Str == "resource"
		if reply.Structured == nil || !isBinary && !isFile || isBinary && bytes.Contains(reply.Structured, block[binary.Start:binary.End]) {
			continue
		}
		list = append(append(list, "[,"[min(len(list), 1)]), storedBlock(block)...)
	}
	if list == nil {
		return nil
	}
	return append(list, ']')
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

// binariesOf returns the binary contents of blocks, as values of the stream, by their base64 text with its quotes.
func binariesOf(blocks []json.RawMessage) map[string]json.RawMessage {
	binaries := map[string]json.RawMessage{}
	for _, block := range blocks {
		block = event.Escape(block)
		if binary, content, ok := bytesOf(block); ok && len(binary.Base64) >= 16 { // a short text may be the same by chance
			binaries[string(block[binary.Start:binary.End])] = content
		}
	}
	return binaries
}

// storedValue returns structured content, or the value of a text, as a value of the stream. Servers repeat their blocks in
// structured content, so the binary content of a block is bytes there too, where it is the value of a member.
func storedValue(value json.RawMessage, binaries map[string]json.RawMessage) json.RawMessage {
	value = event.Escape(value)
	if len(binaries) == 0 {
		return value
	}
	var stored []byte
	done := 0
	for at := 0; at < len(value); at++ {
		if value[at] != '"' {
			continue
		}
		begin := at
		for at++; at < len(value) && value[at] != '"'; at++ {
			if value[at] == '\\' {
				at++
			}
		}
		if content, ok := binaries[string(value[begin:min(at+1, len(value))])]; ok && begin > 0 && value[begin-1] == ':' {
			stored, done = append(append(stored, value[done:begin]...), content...), at+1
		}
	}
	if done == 0 {
		return value
	}
	return append(stored, value[done:]...)
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
