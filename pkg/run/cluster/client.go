package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

// Start starts a run on the workers of a queue and returns its id. name is what lists call its workflow.
func (c *Cluster) Start(ctx context.Context, queue, name string, job Job, content Content) (id string, err error) {
	made, err := ulid.New(ulid.Now(), rand.Reader)
	if err != nil {
		return "", fault.From(err)
	}
	job.V, job.Run = Version, "r"+strings.ToLower(made.String())
	raw, err := rawjson.Marshal(content)
	if err != nil {
		return "", fault.From(err)
	}
	if job.Content, err = c.store.Pack(job.Run, raw); err != nil {
		return "", err
	}
	_, err = retried(ctx, func() (client.WorkflowRun, error) {
		return c.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: job.Run, TaskQueue: queue, Memo: map[string]any{nameMemo: name, statusMemo: string(running)}, StaticSummary: name,
		}, runWorkflowName, job)
	})
	if err != nil {
		return "", c.faultFor(ctx, err, job.Run)
	}
	return job.Run, nil
}

// Resume starts a run that goes on from another one, which has ended or waits for a person, with a workflow as it is now. It returns its id.
func (c *Cluster) Resume(ctx context.Context, from *State, queue, name string, job Job, content Content) (string, error) {
	job.Events, job.Resumes = from.events, true
	return c.Start(ctx, queue, name, job, content)
}

// State is what the cluster knows of a run.
type State struct {
	ID, Workflow string
	// Status is that of pflow-exec, or interrupted for a run that the cluster has ended.
	Status  event.Status
	Started time.Time
	// Ended is zero for a run that has not ended.
	Ended time.Time
	// Fault is why nothing ran, or why the run could not go on.
	Fault *fault.Fault

	events payload.Packed
	store  *payload.Store
}

// Live reports whether the run goes on without a person.
func (s *State) Live() bool { return s.Status == running }

// Outline returns the history of the run's events so far, those of its latest execution on a worker, and what loads its very long values. It is
// empty before that begins.
func (s *State) Outline() (*history.Run, event.Load, error) {
	r, err := openRecord(s.store, s.events)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = r.Close() }()
	h, err := history.Outline(r)
	return h, r.load, err
}

// Each calls do with the line of each event of the run so far, and what loads the values to which the line refers.
func (s *State) Each(do func(line []byte, load event.Load) error) error {
	r, err := openRecord(s.store, s.events)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	return r.each(do)
}

// State returns the state of a run.
func (c *Cluster) State(ctx context.Context, id string) (*State, error) {
	d, err := retried(ctx, func() (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		return c.client.DescribeWorkflowExecution(ctx, id, "")
	})
	if err != nil {
		return nil, c.faultFor(ctx, err, id)
	}
	info := d.GetWorkflowExecutionInfo()
	if info.GetType().GetName() != runWorkflowName {
		return nil, fault.New(fault.NotFound, "The cluster has no run %s", id).Then(fault.Step{Do: fault.DoList})
	}
	s := &State{ID: id, Started: info.GetStartTime().AsTime(), store: c.store, Status: running}
	c.readMemo(s, info.GetMemo().GetFields())
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		s.Ended = info.GetCloseTime().AsTime()
	}
	var last standing
	if c.heartbeatIn(d, &last) == nil {
		if s.events, err = last.events(c.store); err != nil || !s.events.Empty() {
			return s, err
		}
	}
	return s, c.readHistory(ctx, s)
}

// readMemo takes over what the memo of a run's workflow has.
func (c *Cluster) readMemo(s *State, memo map[string]*commonpb.Payload) {
	for key, to := range map[string]*string{nameMemo: &s.Workflow, statusMemo: (*string)(&s.Status)} {
		if p := memo[key]; p != nil {
			_ = c.data.FromPayload(p, to)
		}
	}
}

// readHistory takes over what the history of a run's workflow has: a few dozen events.
func (c *Cluster) readHistory(ctx context.Context, s *State) error {
	history := c.client.GetWorkflowHistory(ctx, s.ID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		e, err := history.Next()
		if err != nil {
			return c.faultFor(ctx, err, s.ID)
		}
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
			var job Job
			if err := c.data.FromPayloads(e.GetWorkflowExecutionStartedEventAttributes().GetInput(), &job); err != nil {
				return undecodable(err)
			}
			s.events = job.Events
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			var end JobEnd
			if err := c.data.FromPayloads(e.GetActivityTaskCompletedEventAttributes().GetResult(), &end); err != nil {
				return undecodable(err)
			}
			if end.Refused == nil {
				s.events = end.Events
			}
		case enumspb.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED: // after the description of the workflow, perhaps
			c.readMemo(s, e.GetWorkflowPropertiesModifiedEventAttributes().GetUpsertedMemo().GetFields())
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
			s.Ended = e.GetEventTime().AsTime()
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
			s.Ended = e.GetEventTime().AsTime()
			failure := e.GetWorkflowExecutionFailedEventAttributes().GetFailure()
			if s.Status == running { // the run itself has no end
				s.Status, s.Fault = event.Failed, faultOf(failures(c.data, c.store.Codec != nil).FailureToError(failure), "the run "+s.ID)
			}
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
			s.Ended, s.Status = e.GetEventTime().AsTime(), event.Cancelled
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:
			s.Ended, s.Status = e.GetEventTime().AsTime(), interruptedStatus
			s.Fault = fault.New(fault.Execution, "The cluster has ended the run %s", s.ID).
				Then(fault.Step{Do: fault.DoResume, Run: s.ID})
		default:
		}
	}
	return nil
}

// interruptedStatus is the status of a run that has no last event.
const interruptedStatus event.Status = "interrupted"

// undecodable returns the fault of a payload that cannot be read.
func undecodable(err error) error {
	return fault.New(fault.Usage, "What the cluster has of the run cannot be read: %v", err).Suggest("Give --codec-key-file the key of the workers")
}

// Await waits until a run has ended or has paused, and returns its state.
func (c *Cluster) Await(ctx context.Context, id string, each func(*State) error) (*State, error) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := c.State(ctx, id)
		if err == nil && each != nil {
			err = each(s)
		}
		if err != nil || !s.Live() {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// Cancel asks a run to stop in order.
func (c *Cluster) Cancel(ctx context.Context, id string) error {
	_, err := retried(ctx, func() (struct{}, error) { return struct{}{}, c.client.CancelWorkflow(ctx, id, "") })
	if _, gone := errors.AsType[*serviceerror.NotFound](err); err == nil || gone {
		return nil // it has ended
	}
	return c.faultFor(ctx, err, id)
}

// Approve answers the questions of a run that has paused. The answers have the form of --approve; person is set if a person gives them.
func (c *Cluster) Approve(ctx context.Context, id string, answers []string, person bool) error {
	_, err := retried(ctx, func() (struct{}, error) {
		return struct{}{}, c.client.SignalWorkflow(ctx, id, "", approveSignal, approval{answers, person})
	})
	if err != nil {
		return c.faultFor(ctx, err, id)
	}
	return nil
}

// List returns the runs, newest first, at most limit.
func (c *Cluster) List(ctx context.Context, limit int) (states []*State, err error) {
	var next []byte
	for {
		page, err := retried(ctx, func() (*workflowservice.ListWorkflowExecutionsResponse, error) {
			return c.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType = '" + runWorkflowName + "'", NextPageToken: next})
		})
		if err != nil {
			return nil, c.faultFor(ctx, err, "")
		}
		for _, info := range page.GetExecutions() {
			if info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
				continue
			}
			s := &State{ID: info.GetExecution().GetWorkflowId(), Started: info.GetStartTime().AsTime(), Status: running}
			c.readMemo(s, info.GetMemo().GetFields())
			if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
				s.Ended = info.GetCloseTime().AsTime()
				s.closed(info.GetStatus())
			}
			if states = append(states, s); len(states) == limit {
				return states, nil
			}
		}
		if next = page.GetNextPageToken(); len(next) == 0 {
			return states, nil
		}
	}
}

// closed corrects the status of a run that has ended without its own end.
func (s *State) closed(how enumspb.WorkflowExecutionStatus) {
	switch {
	case how == enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, how == enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		s.Status = interruptedStatus
	case how == enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		s.Status = event.Cancelled
	case s.Status == running:
		s.Status = event.Failed
	}
}

// faultFor returns the fault of a request about a run.
func (c *Cluster) faultFor(ctx context.Context, err error, id string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return faultOf(err, strings.TrimSpace("run "+id))
}
