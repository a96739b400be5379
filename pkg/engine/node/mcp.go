package node

import (
	"context"
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// runTool calls a tool of an MCP server. The run's nodes share one session of each server.
func runTool(ctx context.Context, p *Call, t *Task) *Result {
	tool := p.kind.MCP
	session, err := t.Servers.Session(ctx, tool.Server)
	if err != nil {
		return failed(toolFault(err), toolOutputs(nil, err.Error()))
	}
	name := tool.Tool
	if p.kind.Unregistered {
		if name, err = session.ToolName(ctx, name); err != nil {
			return failed(toolFault(err), toolOutputs(nil, err.Error()))
		}
	}
	reply, err := session.CallWithin(ctx, t.Timeout, name, p.Params, t.Progress)
	if err != nil {
		return failed(toolFault(err), toolOutputs(nil, err.Error()))
	}
	raw := reply.Result()
	t.large(len(raw))
	result := event.Escape(raw)
	if _, f := t.count(len(result)); f != nil {
		return failed(f, toolOutputs(nil, f.Message))
	}
	if reply.IsError {
		return failed(reply.Failure(tool.Server, name), toolOutputs(result, reply.Text()))
	}
	return succeeded(toolOutputs(result, ""))
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
