package suitetools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// statusPaused is the status of a run that waits for a person's answer.
const statusPaused = "paused"

// attribute says who gives the answers of a call: a person on a page of the server, or else the model. If the client can ask a person, the
// model's are only proposals.
func (a *executeArguments) attribute(call *mcpserver.Call) {
	switch {
	case call.Person:
		a.by, a.person = "a person on the page", true
	case call.Asking() != mcpserver.Never:
		a.proposed, a.Answers = a.Answers, nil
	case call.Client != "":
		a.by = call.Tool + " of " + call.Client
	default:
		a.by = call.Tool
	}
}

// personAt names the person in front of a client, whose name may be empty.
func personAt(client string) string { return strings.TrimSuffix("a person at "+client, " at ") }

// onlyAsks reports whether a call proposes answers to what a paused run asks. Then the person is asked at once, and a run goes on only with
// their answer.
func (w *awaiting) onlyAsks(ctx context.Context) bool {
	a := w.arguments
	if len(a.proposed) == 0 || a.Resume == "" || a.Resume == "last" {
		return false
	}
	s, failed := standingOf(ctx, w.front, a.Resume)
	if failed != nil || s.Status != statusPaused || s.ResumedBy != "" || s.Workflow != a.Name {
		return false
	}
	for node := range a.proposed { // what is wrong with the others is found where a run is started
		if !slices.ContainsFunc(s.Questions, func(q question) bool { return q.Node == node }) {
			return false
		}
	}
	return true
}

// reading is the least time that a person takes for a question.
const reading = 300 * time.Millisecond

// seen returns the reply to a question that was asked at a time. A decline in less time than a person needs to read the question comes from the
// client itself, and counts as a dismissal.
func seen(reply mcpserver.Reply, asked time.Time) mcpserver.Reply {
	if reply.Action == mcpserver.Decline && time.Since(asked) < reading {
		reply.Action = mcpserver.Dismiss
	}
	return reply
}

// unanswered returns the answer about a paused run whose question was not answered in the client: next says where a person can answer it.
func (w *awaiting) unanswered(run string, r *mcpserver.Result) *mcpserver.Result {
	step := fault.Step{Do: fault.DoAskPerson, Run: run, Name: w.arguments.Name}
	told := *r
	if next, err := sjson.SetBytes(slices.Clone(r.Structured), "next", "Nobody has answered. A person can: "+step.Call(w.front.Reader())); err == nil {
		told.Structured = next
	}
	return &told
}

// ask asks the person in front of the client what a paused run asks, if the client can. It returns the id of the run that goes on
// with the answers, or else the result of the call, which is r, the answer about the paused run, if there is no answer.
func (w *awaiting) ask(ctx context.Context, run string, r *mcpserver.Result) (next string, result *mcpserver.Result) {
	switch {
	case gjson.GetBytes(r.Structured, "status").Str != statusPaused || w.arguments.task || w.call.Asking() == mcpserver.Never:
		return "", r
	case w.dismissed:
		return "", w.unanswered(run, r)
	}
	s, failed := standingOf(ctx, w.front, run)
	switch {
	case ctx.Err() != nil:
		return "", w.stopped(ctx, run)
	case failed != nil:
		return "", r
	case s.ResumedBy != "": // it was answered meanwhile
		return s.ResumedBy, nil
	case len(s.Questions) == 0:
		return "", r
	case w.call.Asking() == mcpserver.ByResult:
		return "", w.inputRequired(ctx, s, r)
	}
	return w.elicit(ctx, s, r)
}

// elicit shows the questions one after the other. One that is denied or dismissed is the last.
func (w *awaiting) elicit(ctx context.Context, s *standing, r *mcpserver.Result) (next string, result *mcpserver.Result) {
	began := time.Now()
	defer func() { w.asking += time.Since(began) }()
	shown, hide := untilResumed(ctx, w.front, s.Run)
	defer hide()
	answers := map[string]json.RawMessage{}
	for i := range s.Questions {
		q := &s.Questions[i]
		asked := time.Now()
		reply, err := w.call.Elicit(shown, q.elicitation(s.Run, proposalFor(w.arguments.proposed, q.Node)))
		if next, ok := errors.AsType[resumedBy](context.Cause(shown)); ok && err != nil {
			return string(next), nil
		}
		switch {
		case ctx.Err() != nil:
			return "", w.stopped(ctx, s.Run)
		case err != nil:
			w.front.Suite.Log.Warn("the client did not show what a run asks", "run", s.Run, "node", q.Node, "error", err)
			return "", r
		}
		answer, misfit := q.answer(seen(reply, asked))
		if misfit != nil {
			return "", suite.Failure(misfit.Detail("run_id", s.Run))
		}
		if answer == nil {
			w.dismissed = true
			break
		}
		if answers[q.Node] = answer; gjson.ParseBytes(answer).Str == no {
			break
		}
	}
	if len(answers) == 0 {
		return "", w.unanswered(s.Run, r)
	}
	return w.submit(ctx, s, answers)
}

// resumedBy is the cause of a context that ended because another run continues the one whose questions are shown. It is the id of
// that run.
type resumedBy string

func (r resumedBy) Error() string { return "run " + string(r) + " continues this one" }

// untilResumed returns a context that ends when another run continues a run, such as with an answer that was given elsewhere; then
// its cause is a resumedBy. stop must be called.
func untilResumed(ctx context.Context, f *Front, run string) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		o, err := f.Suite.Run(ctx, suite.Command{Program: "pflow-exec", Args: []string{"--quiet", "wait", "--resumed", "--format", "json", "--", run}, Long: true})
		if err != nil || o.Exit != 0 {
			return // the question is shown until it is answered here
		}
		if next := gjson.GetBytes(o.Output, "run_id").Str; next != "" {
			cancel(resumedBy(next))
		}
	})
	return ctx, func() {
		cancel(nil)
		looking.Wait()
	}
}

// submit goes on from a paused run with answers. It returns the id of the run that goes on, or a failed result.
func (w *awaiting) submit(ctx context.Context, s *standing, answers map[string]json.RawMessage) (run string, failed *mcpserver.Result) {
	again := *w.arguments
	again.Name, again.Resume, again.Answers = cmp.Or(again.Name, s.Workflow), s.Run, answers
	again.by, again.person = personAt(w.call.Client), true
	return startRun(ctx, w.front, &again)
}

// inputRequired returns the result that asks what a run asks. It returns r if the state of that result cannot be signed.
func (w *awaiting) inputRequired(ctx context.Context, s *standing, r *mcpserver.Result) *mcpserver.Result {
	forms := s.elicitations(w.arguments.proposed)
	key, err := stateKey(ctx, w.front.Suite.Home)
	var text string
	if err == nil {
		state := asked{
			Tool: w.call.Tool, Arguments: digestOf(key, w.call.Arguments), Run: s.Run, Nodes: slices.Sorted(maps.Keys(forms)),
			Asked: time.Now().UnixMilli(), Expires: time.Now().Add(stateLifetime).Unix(),
		}
		text, err = state.seal(key)
	}
	if err != nil {
		w.front.Suite.Log.Warn("the client cannot be asked what a run asks", "run", s.Run, "error", err)
		return r
	}
	return &mcpserver.Result{Input: &mcpserver.Input{Elicitations: forms, State: text}}
}

// replied answers a call whose client replies to what an earlier result has asked. run is the run that goes on, or "".
func (w *awaiting) replied(ctx context.Context) (run string, result *mcpserver.Result) {
	f := w.front
	key, err := stateKey(ctx, f.Suite.Home)
	if err != nil {
		return "", suite.Failure(fault.From(err))
	}
	state, refused := unseal(key, w.call.State, w.call.Tool, w.call.Arguments, time.Now())
	switch {
	case refused == nil:
	case refused.Type == fault.Security: // the protocol wants no result for a state that was changed
		return "", &mcpserver.Result{Err: refused}
	default:
		return "", f.failure(refused)
	}
	s, failed := standingOf(ctx, f, state.Run)
	if failed != nil {
		return "", failed
	}
	if s.ResumedBy != "" {
		return "", f.failure(fault.New(fault.Conflict, "What run %s asked was answered before; run %s goes on with that answer", s.Run, s.ResumedBy).
			Then(fault.Step{Do: fault.DoContinued, Run: s.ResumedBy}).Detail("run_id", s.ResumedBy))
	}
	maps.DeleteFunc(w.call.Replies, func(node string, _ mcpserver.Reply) bool { return !slices.Contains(state.Nodes, node) })
	answers, misfit := s.answers(w.call.Replies, time.UnixMilli(state.Asked))
	if misfit != nil {
		return "", suite.Failure(misfit.Detail("run_id", s.Run))
	}
	w.dismissed = len(answers) < len(w.call.Replies)
	if len(answers) == 0 { // it is asked again, unless it was dismissed
		return w.answer(ctx, s.Run)
	}
	if run, failed = w.submit(ctx, s, answers); failed != nil {
		return "", failed
	}
	return w.answer(ctx, run)
}
