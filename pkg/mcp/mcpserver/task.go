package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// TasksExtension is the MCP extension by which a call can go on as a task (SEP-2663). A client declares it with each request, so it
// exists from the stateless revision on.
const TasksExtension = "io.modelcontextprotocol/tasks"

// Tasks are the calls that go on as tasks. A server that has them announces TasksExtension, and answers tasks/get, tasks/update and
// tasks/cancel by them. An unknown id is a fault that is not_found, or an *Error that is NotFound; the other errors are as a Method's.
type Tasks interface {
	// Task returns the state of a task.
	Task(ctx context.Context, request *TaskRequest) (*Task, error)
	// Update takes what the client replies to the input requests of a task, by their keys. It ignores keys that are not outstanding.
	Update(ctx context.Context, request *TaskRequest, replies map[string]json.RawMessage) error
	// Cancel ends a task. It does nothing if the task has ended.
	Cancel(ctx context.Context, request *TaskRequest) error
}

// TaskRequest is a request about a task.
type TaskRequest struct {
	ID string
	// Elicits reports whether the client shows forms to a person, so that a task may ask it for input.
	Elicits bool
	// Client is what the client calls itself, as a Call has it.
	Client string
}

// TaskStatus is how far a task is.
type TaskStatus string

// The statuses. A task stays Completed, TaskFailed or TaskCancelled for ever.
const (
	Working       TaskStatus = "working"
	InputRequired TaskStatus = "input_required"
	Completed     TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskCancelled TaskStatus = "cancelled"
)

// Task is the state of a task.
type Task struct {
	// ID must be hard to guess, and Tasks must know it before a call is answered with it, whatever happens to the server.
	ID     string
	Status TaskStatus
	// Message describes the state to people and models; it may be empty.
	Message          string
	Created, Updated time.Time
	// TTL is how long the task is kept at least, from Created on; 0 means without a limit.
	TTL time.Duration
	// Poll is how long the client should wait before it asks again; 0 leaves that to the client.
	Poll time.Duration
	// InputRequests is what a task with InputRequired asks the client, a JSON object of requests by their keys. A key is never used again
	// for another request of the task.
	InputRequests json.RawMessage
	// Result is the answer of a task that is Completed, also a failed one.
	Result *Result
	// Err is the error of the protocol of a task with TaskFailed: an *Error or a fault.
	Err error
}

// TakesTask reports whether the call may be answered with a Result that is a Task.
func (c *Call) TakesTask() bool { return c.takesTask }

// takesTask reports whether the client of a request takes a task for an answer.
func takesTask(ctx context.Context, req *mcp.CallToolRequest) bool {
	if revisionOf(ctx, req) < statelessRevision {
		return false
	}
	meta, err := rawjson.Marshal(req.Params.Meta)
	return err == nil && declaresTasks(gjson.ParseBytes(meta))
}

// declaresTasks reports whether the _meta of a request declares the extension.
func declaresTasks(meta gjson.Result) bool {
	return meta.Get(`io\.modelcontextprotocol/clientCapabilities.extensions.io\.modelcontextprotocol/tasks`).IsObject()
}

// needsTasks is the error for a client that does not declare the extension.
func needsTasks(what string) *Error {
	return &Error{
		Kind: MissingCapability, Message: what + " needs the client capability " + TasksExtension,
		Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + TasksExtension + `":{}}}}`),
	}
}

// wireTask is a task as it is sent.
type wireTask struct {
	ResultType    string          `json:"resultType"`
	TaskID        string          `json:"taskId"`
	Status        TaskStatus      `json:"status"`
	StatusMessage string          `json:"statusMessage,omitempty"`
	CreatedAt     time.Time       `json:"createdAt"`
	LastUpdatedAt time.Time       `json:"lastUpdatedAt"`
	TTLMs         *int64          `json:"ttlMs"`
	PollMs        int64           `json:"pollIntervalMs,omitempty"`
	InputRequests json.RawMessage `json:"inputRequests,omitempty"`
	Result        *wireResult     `json:"result,omitempty"`
	Error         *jsonrpc.Error  `json:"error,omitempty"`
}

// wire returns a task without what it has ended with or asks.
func (t *Task) wire(resultType string) *wireTask {
	w := &wireTask{
		ResultType: resultType, TaskID: t.ID, Status: t.Status, StatusMessage: t.Message,
		CreatedAt: t.Created.UTC(), LastUpdatedAt: t.Updated.UTC(), PollMs: t.Poll.Milliseconds(),
	}
	if t.TTL > 0 {
		ms := t.TTL.Milliseconds()
		w.TTLMs = &ms
	}
	return w
}

// created returns the result of a call that goes on as the task.
func (t *Task) created() *customResult { return &customResult{document: compact(t.wire("task"))} }

// detailed returns the result of tasks/get.
func (t *Task) detailed() (json.RawMessage, error) {
	w := t.wire("complete")
	switch t.Status {
	case InputRequired:
		w.InputRequests = t.InputRequests
	case Completed:
		var err error
		if w.Result, err = (&entry{}).wire(t.Result, statelessRevision); err != nil {
			return nil, fault.New(fault.Internal, "The result of task %s cannot be sent: %v", t.ID, err)
		}
	case TaskFailed:
		w.Error = protocolError(t.Err, jsonrpc.CodeInvalidParams)
	}
	return compact(w), nil
}
