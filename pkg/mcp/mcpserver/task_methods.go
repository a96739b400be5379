package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// taskMethods returns the methods of the extension. A server without tasks has none.
func taskMethods(tasks Tasks) map[string]Method {
	if tasks == nil {
		return map[string]Method{}
	}
	return map[string]Method{
		"tasks/get": taskMethod(func(ctx context.Context, task *TaskRequest, _ gjson.Result) (json.RawMessage, error) {
			state, err := tasks.Task(ctx, task)
			if err != nil {
				return nil, err
			}
			return state.detailed()
		}),
		"tasks/update": taskMethod(func(ctx context.Context, task *TaskRequest, params gjson.Result) (json.RawMessage, error) {
			responses := params.Get("inputResponses")
			if !responses.IsObject() {
				return nil, &Error{Kind: Invalid, Message: "inputResponses must be an object"}
			}
			replies := map[string]json.RawMessage{}
			for key, reply := range responses.Map() {
				replies[key] = json.RawMessage(reply.Raw)
			}
			return json.RawMessage("{}"), tasks.Update(ctx, task, replies)
		}),
		"tasks/cancel": taskMethod(func(ctx context.Context, task *TaskRequest, _ gjson.Result) (json.RawMessage, error) {
			return json.RawMessage("{}"), tasks.Cancel(ctx, task)
		}),
	}
}

// taskMethod returns a method about one task, for clients that declare the extension.
func taskMethod(answer func(ctx context.Context, task *TaskRequest, params gjson.Result) (json.RawMessage, error)) Method {
	return func(ctx context.Context, r *CustomRequest) (json.RawMessage, error) {
		if r.Revision < statelessRevision {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: r.Method + " does not exist before revision " + statelessRevision}
		}
		params := gjson.ParseBytes(r.Params)
		meta := params.Get("_meta")
		if !declaresTasks(meta) {
			return nil, needsTasks(r.Method)
		}
		id := params.Get("taskId")
		if id.Type != gjson.String || id.Str == "" {
			return nil, &Error{Kind: Invalid, Message: "taskId must be a text that is not empty"}
		}
		elicitation := meta.Get(`io\.modelcontextprotocol/clientCapabilities.elicitation`)
		info := meta.Get(`io\.modelcontextprotocol/clientInfo`)
		task := &TaskRequest{ID: id.Str, Client: clientName(info.Get("name").Str, info.Get("version").Str), Elicits: elicitation.IsObject() && (elicitation.Get("form").Exists() || !elicitation.Get("url").Exists())}
		return answer(ctx, task, params)
	}
}

// UnknownTask returns the error for an id that no task has.
func UnknownTask(id string) error {
	return fault.New(fault.NotFound, "There is no task %q", fault.Truncate(id, maxEcho))
}
