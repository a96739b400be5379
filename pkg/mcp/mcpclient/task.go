package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// tasksExtension is the extension of 2026-07-28 by which a server may make a task of a call. In 2025-11-25 tasks are a capability,
// and the client asks for a task.
const tasksExtension = "io.modelcontextprotocol/tasks"

const (
	// taskPoll is the time between two polls of a task whose server does not say how long it should be.
	taskPoll = time.Second
	// minTaskPoll is the least time.
	minTaskPoll = 20 * time.Millisecond
	// cancelTaskLimit bounds the request that cancels a task.
	cancelTaskLimit = time.Second
)

// taskMethods are the methods of both revisions.
var taskMethods = []string{"tasks/get", "tasks/result", "tasks/update", "tasks/cancel"}

type taskParams struct {
	mcp.ParamsBase
	TaskID         string          `json:"taskId"`
	InputResponses json.RawMessage `json:"inputResponses,omitempty"`
}

// taskResult is the result of the methods. Its bytes are in the pendingRequest.
type taskResult struct{ mcp.ResultBase }

// addTaskMethods lets a client send the methods.
func addTaskMethods(client *mcp.Client) error {
	for _, method := range taskMethods {
		if err := mcp.AddSendingCustomMethod[*taskParams, *taskResult](client, method); err != nil {
			return err
		}
	}
	return nil
}

// takesTask reports whether the tool is to be called as a task.
func (a *attempt) takesTask(ctx context.Context) bool {
	if a.stateless() || !gjson.GetBytes(a.handshake, "capabilities.tasks.requests.tools.call").Exists() {
		return false
	}
	tools, err := a.listed(ctx)
	if err != nil {
		return false // the call reports what is wrong with the server
	}
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == a.Tool })
	return i >= 0 && slices.Contains([]string{"required", "optional"}, gjson.GetBytes(tools[i].More, "execution.taskSupport").Str)
}

// awaitTask polls a task to its end, and returns the result of the call that it stands for. t is the task as it began. A task that
// is not awaited to its end is cancelled.
func (a *attempt) awaitTask(ctx context.Context, t gjson.Result) (_ json.RawMessage, err error) {
	id := t.Get("taskId").String()
	if id == "" {
		return nil, fault.New(fault.Protocol, "Tool %s returned a task without an id", a.Tool).Detail("server", a.name)
	}
	a.mu.Lock()
	a.task = id
	a.mu.Unlock()
	ended := false
	defer func() {
		if !ended {
			a.cancelTask(ctx, id)
		}
	}()
	answered := map[string]bool{}
	said := ""
	for {
		if message := t.Get("statusMessage").String(); message != said {
			said = message
			a.say(message)
		}
		switch status := t.Get("status").Str; status {
		case "completed", "failed", "cancelled":
			ended = true
			if !a.stateless() {
				return a.taskRequest(ctx, "tasks/result", taskParams{TaskID: id})
			}
			return a.taskOutcome(t)
		case inputRequired:
			if !a.stateless() { // the server asks while it is asked for the result
				result, err := a.taskRequest(ctx, "tasks/result", taskParams{TaskID: id})
				ended = err == nil || context.Cause(ctx) == nil
				return result, err
			}
			responses, err := a.responses(t.Get("inputRequests"), answered)
			if err != nil {
				return nil, err
			}
			if responses != nil {
				if _, err := a.taskRequest(ctx, "tasks/update", taskParams{TaskID: id, InputResponses: responses}); err != nil {
					return nil, err
				}
				for key := range gjson.ParseBytes(responses).Map() {
					answered[key] = true
				}
			}
		case "working":
		default:
			return nil, fault.New(fault.Protocol, "The task of tool %s has the status %q, which is unknown", a.Tool, status).Detail("server", a.name)
		}
		if !pause(ctx, pollInterval(t)) {
			return nil, a.requestFault(ctx, context.Cause(ctx))
		}
		raw, err := a.taskRequest(ctx, "tasks/get", taskParams{TaskID: id})
		if err != nil {
			return nil, err
		}
		t = gjson.ParseBytes(raw)
	}
}

// pollInterval returns the time to wait before the next poll.
func pollInterval(t gjson.Result) time.Duration {
	for _, key := range []string{"pollIntervalMs", "pollInterval"} {
		if ms := t.Get(key); ms.Type == gjson.Number && ms.Num >= 0 && ms.Num < float64(time.Hour/time.Millisecond) {
			return max(minTaskPoll, time.Duration(ms.Num*float64(time.Millisecond)))
		}
	}
	return taskPoll
}

// taskOutcome returns what a task of 2026-07-28 that has ended has in place of the call's result.
func (a *attempt) taskOutcome(t gjson.Result) (json.RawMessage, error) {
	switch status := t.Get("status").Str; {
	case status == "completed" && t.Get("result").IsObject():
		return json.RawMessage(t.Get("result").Raw), nil
	case status == "failed" && t.Get("error").IsObject():
		e := t.Get("error")
		return nil, errorFault(a.name, &jsonrpc.Error{Code: e.Get("code").Int(), Message: e.Get("message").String(), Data: json.RawMessage(e.Get("data").Raw)})
	case status == "cancelled":
		return nil, fault.New(fault.Execution, "MCP server %s cancelled the task of tool %s: %s", a.name, a.Tool, t.Get("statusMessage").String()).Detail("server", a.name)
	default:
		return nil, fault.New(fault.Protocol, "The task of tool %s ended as %s without a result", a.Tool, status).Detail("server", a.name)
	}
}

// taskRequest makes one request about a task.
func (a *attempt) taskRequest(ctx context.Context, method string, params taskParams) (json.RawMessage, error) {
	return a.request(ctx, func(ctx context.Context) (mcp.Result, error) {
		return mcp.CallCustomMethod[*taskParams, *taskResult](ctx, a.client, method, &params)
	})
}

// cancelTask cancels a task whose call has ended, and waits a short time for the server's acknowledgement.
func (a *attempt) cancelTask(ctx context.Context, id string) {
	if errors.Is(context.Cause(ctx), errClosed) || a.Dead() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTaskLimit)
	defer cancel()
	_, err := a.exchange(ctx, &pendingRequest{}, func(ctx context.Context) (mcp.Result, error) {
		return mcp.CallCustomMethod[*taskParams, *taskResult](ctx, a.client, "tasks/cancel", &taskParams{TaskID: id})
	})
	if err != nil {
		a.log.Debug("the task of an MCP tool was not cancelled", "server", a.name, "task", id, "error", err)
	}
}

// say reports a message as progress.
func (a *attempt) say(message string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over && a.Progress != nil && message != "" {
		a.Progress(0, 0, message)
	}
}
