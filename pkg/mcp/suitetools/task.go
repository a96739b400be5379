package suitetools

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// NewTasks returns the runs as tasks: a call that starts one goes on as a task if its client takes tasks. It returns nil if no tool of f
// starts a run, and none for a front of some workflows only.
func NewTasks(f *Front) mcpserver.Tasks {
	if f.Only != nil || !f.serves(DefaultToolset) && !f.serves("runs") && !f.ServesWorkflows() {
		return nil
	}
	return tasks{f}
}

// tasks answers what clients ask about runs that are tasks. It keeps nothing: whatever happens to this server, each server of the home
// answers alike.
type tasks struct{ front *Front }

const (
	// taskPatience is how long a call waits for the end of its run before it goes on as a task.
	taskPatience = time.Second
	// taskKept is how long pflow-exec gc keeps a run after its end, unless it is told otherwise.
	taskKept = 30 * 24 * time.Hour
	// A client should poll a task less often the older it is, but not less often than every maxPoll.
	minPoll = 500 * time.Millisecond
	maxPoll = 5 * time.Second
	// maxStatusMessage is the most bytes of a task's message.
	maxStatusMessage = 200
)

// taskID is the id of a task: that of the run, and after a dot max_output_chars if the call has it.
type taskID struct {
	run   string
	chars *int
}

func (id taskID) String() string {
	if id.chars == nil {
		return id.run
	}
	return id.run + "." + strconv.Itoa(*id.chars)
}

// parseTaskID returns the parts of an id. It reports false if no task has the id.
func parseTaskID(text string) (id taskID, ok bool) {
	run, chars, limited := strings.Cut(text, ".")
	id.run = run
	if limited {
		n, err := strconv.Atoi(chars)
		if err != nil {
			return id, false
		}
		id.chars = &n
	}
	return id, strings.HasPrefix(run, "r") && id.String() == text
}

// runProgress is how far a run is, as pflow-exec status prints it.
type runProgress struct {
	RunID       string    `json:"run_id"`
	Status      string    `json:"status"`
	StartedAt   time.Time `json:"started_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	ResumedFrom string    `json:"resumed_from"`
	ResumedBy   string    `json:"resumed_by"`
	Nodes       struct {
		Total, Completed, Reused, Failed, Skipped, Cancelled int
	} `json:"nodes"`
	RunningNodes []struct{ Node, Message string } `json:"running_nodes"`
	Error        *fault.Fault                     `json:"error"`
}

// The statuses of runs that tasks distinguish.
const (
	statusRunning   = "running"
	statusQueued    = "queued"
	statusCancelled = "cancelled"
)

// live reports whether the run has not ended.
func (p *runProgress) live() bool { return p.Status == statusRunning || p.Status == statusQueued }

// progressOf returns how far a run is.
func (t tasks) progressOf(ctx context.Context, run string) (*runProgress, error) {
	r := t.front.answer(ctx, suite.Command{Program: "pflow-exec", Args: []string{"status", "--format", "json", "--", run}})
	if r.IsError {
		return nil, faultIn(r)
	}
	var p runProgress
	if err := json.Unmarshal(r.Structured, &p); err != nil || p.RunID == "" {
		return nil, fault.New(fault.Protocol, "pflow-exec status printed no run_id")
	}
	return &p, nil
}

// faultIn returns the fault in a failed result.
func faultIn(failed *mcpserver.Result) *fault.Fault {
	f := &fault.Fault{}
	if err := json.Unmarshal([]byte(gjson.GetBytes(failed.Structured, "error").Raw), f); err != nil {
		return fault.New(fault.Protocol, "pflow-exec failed without an error")
	}
	return f
}

// find returns the run of a task.
func (t tasks) find(ctx context.Context, request *mcpserver.TaskRequest) (taskID, *runProgress, error) {
	id, ok := parseTaskID(request.ID)
	if !ok {
		return id, nil, mcpserver.UnknownTask(request.ID)
	}
	p, err := t.progressOf(ctx, id.run)
	switch {
	case err != nil && fault.From(err).Type == fault.NotFound, err == nil && p.RunID != id.run: // a prefix of an id names a run too
		return id, nil, mcpserver.UnknownTask(request.ID)
	case err != nil:
		return id, nil, err
	}
	return id, p, nil
}

// Task implements mcpserver.Tasks.
func (t tasks) Task(ctx context.Context, request *mcpserver.TaskRequest) (*mcpserver.Task, error) {
	id, run, err := t.find(ctx, request)
	if err != nil {
		return nil, err
	}
	task := run.task(id, time.Now())
	if request.Elicits {
		if run, err = t.current(ctx, run); err != nil {
			return nil, err
		}
		now := run.task(id, time.Now())
		now.Created, now.TTL = task.Created, task.TTL // the task is the first run
		task = now
	}
	if request.Elicits && run.Status == statusPaused {
		s, failed := standingOf(ctx, t.front, run.RunID)
		if failed != nil {
			return nil, faultIn(failed)
		}
		task.Status, task.InputRequests = mcpserver.InputRequired, s.inputRequests()
		t.front.asked.add(run.RunID)
		return task, nil
	}
	if task.Status == mcpserver.Completed {
		var now float64
		a := &executeArguments{WaitSeconds: &now, MaxOutputChars: id.chars}
		result := summarized(func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
			return awaitRun(ctx, t.front, call, a, run.RunID)
		}, ended)
		task.Result = result(ctx, &mcpserver.Call{})
	}
	return task, nil
}

// Cancel implements mcpserver.Tasks.
func (t tasks) Cancel(ctx context.Context, request *mcpserver.TaskRequest) error {
	_, run, err := t.find(ctx, request)
	if err == nil {
		run, err = t.current(ctx, run)
	}
	if err != nil || !run.live() {
		return err
	}
	if r := t.front.answer(ctx, runCancel{RunID: run.RunID}.command()); r.IsError {
		return fault.New(fault.Unavailable, "Run %s could not be cancelled: %s", run.RunID, gjson.GetBytes(r.Structured, "error.message").Str)
	}
	return nil
}

// task returns the task of a run, without its result.
func (p *runProgress) task(id taskID, now time.Time) *mcpserver.Task {
	if !p.live() {
		now = p.UpdatedAt // its end
	}
	age := now.Sub(p.StartedAt)
	task := &mcpserver.Task{
		ID: id.String(), Status: mcpserver.Completed, Message: fault.Truncate(p.message(), maxStatusMessage), Created: p.StartedAt, Updated: p.UpdatedAt,
		TTL: age + taskKept, Poll: min(max(age/10, minPoll), maxPoll),
	}
	switch {
	case p.live():
		task.Status = mcpserver.Working
	case p.Status == statusCancelled:
		task.Status = mcpserver.TaskCancelled
	}
	return task
}

// message describes the state of the run on a line.
func (p *runProgress) message() string {
	n := p.Nodes
	done := fmt.Sprintf("%d of %d done", n.Completed+n.Reused+n.Failed+n.Skipped+n.Cancelled, n.Total)
	switch {
	case p.Status == statusQueued:
		return p.Status
	case !p.live() && p.Error != nil:
		return p.Status + ": " + oneLine(p.Error.Error())
	case !p.live():
		return p.Status
	case len(p.RunningNodes) == 0:
		return done
	}
	shown := p.RunningNodes[len(p.RunningNodes)-1] // the innermost
	for _, node := range p.RunningNodes {
		if node.Message != "" {
			shown = node
		}
	}
	return strings.TrimSuffix(done+"; "+shown.Node+": "+oneLine(shown.Message), ": ")
}

// begin returns the result of a call that goes on as a task if its run has not ended, and the result of the run otherwise. A paused
// run has ended only for a client that cannot be asked.
func (t tasks) begin(ctx context.Context, call *mcpserver.Call, a *executeArguments, run string, result *mcpserver.Result) *mcpserver.Result {
	switch gjson.GetBytes(result.Structured, "status").Str {
	case statusRunning, statusQueued:
	case statusPaused:
		if call.Asking() != mcpserver.ByResult {
			return result
		}
	default:
		return result
	}
	p, err := t.progressOf(ctx, run)
	if err != nil {
		return result // which says how to wait on
	}
	task := p.task(taskID{run: p.RunID, chars: a.MaxOutputChars}, time.Now())
	if p.Status == statusPaused {
		task.Status = mcpserver.InputRequired
	}
	return &mcpserver.Result{Task: task}
}
