package suitetools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxContinued is the most runs of a task: each of them, except the last, was paused and continued by the next with an answer.
const maxContinued = 1000

// current returns the run that a task has come to. A paused run is continued by another one with the answer.
func (t tasks) current(ctx context.Context, p *runProgress) (*runProgress, error) {
	if p.Status != statusPaused {
		return p, nil
	}
	var newer []*runProgress // from the newest back
	for id := p.ResumedBy; id != "" && id != p.RunID && len(newer) < maxContinued; {
		next, err := t.progressOf(ctx, id)
		if err != nil {
			return nil, err
		}
		newer = append(newer, next)
		id = next.ResumedFrom
	}
	for _, next := range slices.Backward(newer) {
		if p = next; p.Status != statusPaused {
			break // if that was continued, it was after the end of the task
		}
	}
	return p, nil
}

// inputRequests returns what a paused run asks, by keys that no other run has: a question that is asked again, by the run that goes
// on, is another one.
func (s *standing) inputRequests() json.RawMessage {
	requests := map[string]json.RawMessage{}
	for node, form := range s.elicitations(nil) {
		requests[s.Run+"/"+node] = form.InputRequest()
	}
	all, err := rawjson.Marshal(requests)
	if err != nil {
		return json.RawMessage("{}")
	}
	return all
}

// Update implements mcpserver.Tasks. It goes on from the paused run with the answers in the replies.
func (t tasks) Update(ctx context.Context, request *mcpserver.TaskRequest, replies map[string]json.RawMessage) error {
	_, run, err := t.find(ctx, request)
	if err == nil {
		run, err = t.current(ctx, run)
	}
	if err != nil || run.Status != statusPaused {
		return err
	}
	given, err := repliesTo(run.RunID, replies)
	if err != nil {
		return err
	}
	s, failed := standingOf(ctx, t.front, run.RunID)
	if failed != nil {
		return faultIn(failed)
	}
	answers, misfit := s.answers(given, t.front.asked.of(run.RunID, run.UpdatedAt))
	if misfit != nil {
		return misfit
	}
	if len(answers) == 0 {
		return nil
	}
	a := &executeArguments{Name: s.Workflow, Resume: s.Run, Answers: answers, by: personAt(request.Client), person: request.Elicits}
	if !a.person { // the client shows no forms, so it answers itself
		a.by = strings.TrimSuffix("tasks/update of "+request.Client, " of ")
	}
	if _, failed = startRun(ctx, t.front, a); failed == nil {
		return nil
	}
	if p, err := t.progressOf(ctx, s.Run); err == nil && p.ResumedBy != "" {
		return nil // it was answered elsewhere meanwhile
	}
	return faultIn(failed)
}

// askedTimes are when this process has first told clients what paused runs ask, by the runs.
type askedTimes struct {
	mu sync.Mutex
	at map[string]time.Time
}

// maxAskedTimes bounds askedTimes. Beyond it the times are forgotten: each only shows a client that declines by itself.
const maxAskedTimes = 1000

// add notes that a run's questions are told now.
func (a *askedTimes) add(run string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.at[run]; known {
		return
	}
	if a.at == nil || len(a.at) == maxAskedTimes {
		a.at = map[string]time.Time{}
	}
	a.at[run] = time.Now()
}

// of returns when a run's questions were told, or else when the run has paused.
func (a *askedTimes) of(run string, paused time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, known := a.at[run]; known {
		return at
	}
	return paused
}

// repliesTo returns the replies to what a run asks, by the paths of the nodes.
func repliesTo(run string, replies map[string]json.RawMessage) (map[string]mcpserver.Reply, error) {
	given := map[string]mcpserver.Reply{}
	for key, raw := range replies {
		node, outstanding := strings.CutPrefix(key, run+"/")
		if !outstanding {
			continue
		}
		var reply mcpserver.Reply
		if err := json.Unmarshal(raw, &reply); err != nil {
			return nil, &mcpserver.Error{
				Kind: mcpserver.Invalid, Message: fmt.Sprintf("The response to %s is not the result of an elicitation", fault.Truncate(key, maxStatusMessage)),
			}
		}
		given[node] = reply
	}
	return given, nil
}
