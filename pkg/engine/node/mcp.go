package node

import (
	"context"
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// runTool calls a tool of an MCP server; the run's nodes share one process of each server.
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
	answer, err := session.Call(ctx, name, p.Params, t.Progress)
	if err != nil {
		return failed(toolFault(err), toolOutputs(nil, err.Error()))
	}
	result := event.Escape(answer.Result())
	if answer.IsError {
		return failed(answer.Failure(tool.Server, name), toolOutputs(result, answer.Text()))
	}
	return completed(toolOutputs(result, ""))
}

// toolOutputs is result, error, and every top-level field of an object result under its own key; fields called result
// or error stand only under result.
func toolOutputs(result json.RawMessage, failure string) json.RawMessage {
	if result == nil {
		result = json.RawMessage("null")
	}
	said := json.RawMessage("null")
	if failure != "" {
		said = rawjson.Quote(failure)
	}
	out := append([]byte(`{"result":`), result...)
	out = append(append(out, `,"error":`...), said...)
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

// toolFault is a server's fault as a node's: a run that could not find a server or tool has failed, it was not refused.
func toolFault(err error) *fault.Fault {
	f := *fault.From(err)
	if f.Type == fault.NotFound || f.Type == fault.Usage || f.Type == fault.Validation {
		f.Type = fault.Execution
	}
	return &f
}
