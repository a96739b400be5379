package conformance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// tasks keeps tasks in memory.
type tasks struct {
	mu   sync.Mutex
	byID map[string]*task
}

// task is a task and what it waits for.
type task struct {
	mcpserver.Task
	asks    map[string]json.RawMessage // by their keys, without those that were answered
	replies map[string]json.RawMessage
	// finish ends the task when all is answered; nil for a task that ends by itself.
	finish func(replies map[string]json.RawMessage) *mcpserver.Result
}

func newTasks() *tasks { return &tasks{byID: map[string]*task{}} }

// begin returns the result of a call that goes on as a task.
func (t *tasks) begin(work *task) *mcpserver.Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	work.ID, work.Status, work.Created, work.Updated, work.TTL, work.Poll = rand.Text(), mcpserver.Working, now, now, time.Hour, 100*time.Millisecond
	if work.replies = map[string]json.RawMessage{}; work.asks != nil {
		work.Status = mcpserver.InputRequired
	}
	t.byID[work.ID] = work
	seed := work.Task
	seed.Status = mcpserver.Working
	return &mcpserver.Result{Task: &seed}
}

// later begins a task that ends by itself after some time.
func (t *tasks) later(after time.Duration, status mcpserver.TaskStatus, result *mcpserver.Result, err error) *mcpserver.Result {
	work := &task{}
	begun := t.begin(work)
	time.AfterFunc(after, func() { t.end(work, status, result, err) })
	return begun
}

// end ends a task that has not ended.
func (t *tasks) end(work *task, status mcpserver.TaskStatus, result *mcpserver.Result, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if work.Status == mcpserver.Working || work.Status == mcpserver.InputRequired {
		work.Status, work.Result, work.Err, work.Updated = status, result, err, time.Now()
	}
}

func (t *tasks) find(id string) (*task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if work := t.byID[id]; work != nil {
		return work, nil
	}
	return nil, mcpserver.UnknownTask(id)
}

// Task implements mcpserver.Tasks.
func (t *tasks) Task(_ context.Context, r *mcpserver.TaskRequest) (*mcpserver.Task, error) {
	work, err := t.find(r.ID)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	state := work.Task
	state.InputRequests, err = json.Marshal(work.asks)
	return &state, err
}

// Update implements mcpserver.Tasks.
func (t *tasks) Update(_ context.Context, r *mcpserver.TaskRequest, replies map[string]json.RawMessage) error {
	work, err := t.find(r.ID)
	if err != nil {
		return err
	}
	t.mu.Lock()
	for key, reply := range replies {
		if _, asked := work.asks[key]; asked {
			delete(work.asks, key)
			work.replies[key] = reply
		}
	}
	ready := work.finish != nil && len(work.asks) == 0
	t.mu.Unlock()
	if ready {
		t.end(work, mcpserver.Completed, work.finish(work.replies), nil)
	}
	return nil
}

// Cancel implements mcpserver.Tasks.
func (t *tasks) Cancel(_ context.Context, r *mcpserver.TaskRequest) error {
	work, err := t.find(r.ID)
	if err == nil {
		t.end(work, mcpserver.TaskCancelled, nil, nil)
	}
	return err
}

// question is an elicitation with one field.
func question(message, field, kind string) *mcpserver.Elicitation {
	return &mcpserver.Elicitation{Message: message, Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, field, kind, field))}
}

// asking begins a task that asks, and then answers with the replies.
func (t *tasks) asking(questions map[string]*mcpserver.Elicitation) *mcpserver.Result {
	work := &task{asks: map[string]json.RawMessage{}}
	for key, q := range questions {
		work.asks[key] = q.InputRequest()
	}
	work.finish = func(replies map[string]json.RawMessage) *mcpserver.Result {
		var text strings.Builder
		for _, key := range slices.Sorted(maps.Keys(replies)) {
			fmt.Fprintf(&text, "%s: %s\n", key, replies[key])
		}
		return &mcpserver.Result{Text: text.String()}
	}
	return t.begin(work)
}

// tools returns the tools whose calls are tasks.
func (t *tasks) tools() []mcpserver.Tool {
	greet := tool("greet", "Greets", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
		return &mcpserver.Result{Text: "Hello, " + gjson.GetBytes(c.Arguments, "name").Str + "!"}
	})
	slow := tool("slow_compute", "Takes some seconds", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
		result := &mcpserver.Result{Text: "computed " + gjson.GetBytes(c.Arguments, "label").Str}
		seconds := gjson.GetBytes(c.Arguments, "seconds").Num
		if !c.TakesTask() || seconds == 0 {
			return result
		}
		return t.later(time.Duration(seconds*float64(time.Second)), mcpserver.Completed, result, nil)
	})
	return []mcpserver.Tool{
		greet, slow,
		tool("failing_job", "Fails as a task", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return t.later(time.Second, mcpserver.Completed, &mcpserver.Result{Text: "failed", IsError: true}, nil)
		}),
		tool("protocol_error_job", "Fails with an error of the protocol", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return t.later(100*time.Millisecond, mcpserver.TaskFailed, nil, fault.New(fault.Internal, "the job broke"))
		}),
		tool("confirm_delete", "Asks before it goes on", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
			if !c.TakesTask() {
				return &mcpserver.Result{Text: "nothing is deleted"}
			}
			return t.asking(map[string]*mcpserver.Elicitation{"confirm": question("Delete "+gjson.GetBytes(c.Arguments, "filename").Str+"?", "confirm", "boolean")})
		}),
		tool("multi_input", "Asks two things", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return t.asking(map[string]*mcpserver.Elicitation{"first": question("First?", "confirm", "boolean"), "second": question("Second?", "confirm", "boolean")})
		}),
	}
}
