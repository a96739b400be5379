package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// approvals asks people whether nodes may run.
type approvals struct {
	// from is the checkpoint, or nil. answer answers the questions that it left open.
	from   *Checkpoint
	answer string
	// askPerson asks a person, if it is not nil.
	askPerson func(ctx context.Context, q Question) (answer, by string, err error)
	questions *questions

	sched    *scheduler
	settler  *settler
	rec      *recorder
	store    *store
	stop     *stopState
	warnings *warnings
	binder   *binder
	digests  *digester
}

// ask asks a question about a node. The node goes on when it is answered.
func (a *approvals) ask(nr *nodeRun, q *Question) {
	a.rec.write(nr.frame, &event.Event{Event: event.ApprovalRequested, Node: nr.id(), Question: a.store.redactor.Text(q.Text), Choices: q.Choices})
	if answer := a.answerFor(q); answer != "" {
		a.answered(nr, q, answer, "--approve")
		return
	}
	a.questions.open[nr], nr.question = true, q
	if a.askPerson == nil {
		return
	}
	ctx, cancel := context.WithCancel(nr.frame.ctx)
	nr.withdraw = cancel
	var answer, by string
	var err error
	a.sched.async(func() {
		defer cancel()
		answer, by, err = a.askPerson(ctx, *q)
	}, func() {
		if !a.questions.open[nr] {
			return // it was withdrawn
		}
		if err != nil || !slices.Contains(q.Choices, answer) { // without an answer the question stays open
			a.settler.closeFrame(nr.frame)
			return
		}
		delete(a.questions.open, nr)
		a.answered(nr, q, answer, by)
	})
}

// answerFor returns the given answer to a question that the resumed run left open, or "".
func (a *approvals) answerFor(q *Question) string {
	if a.from == nil || a.answer == "" || !a.from.Open[q.Node] {
		return ""
	}
	if asked := a.from.asked[q.Node]; asked != a.store.redactor.Text(q.Text) { // the answer was given to another question
		a.warnings.add(fmt.Sprintf("node %s was not answered: it asks %q now, and asked %q before", q.Node, q.Text, asked))
		return ""
	}
	if slices.Contains(q.Choices, a.answer) {
		return a.answer
	}
	a.warnings.add(fmt.Sprintf("node %s cannot be answered %q, only %q", q.Node, a.answer, q.Choices))
	return ""
}

// choicesOf returns the valid answers.
func choicesOf(a *workflow.Approval) []string {
	if len(a.Choices) > 0 {
		return a.Choices
	}
	return []string{"yes", "no"}
}

// maxQuestion is the most bytes of a question. The rest is cut.
const maxQuestion = 16 << 10

// question returns the question to ask before a node runs.
func (a *approvals) question(nr *nodeRun) (*Question, error) {
	q := &Question{Node: nr.path(), Choices: choicesOf(nr.node.Approval)}
	if nr.node.Approval.Question == "" {
		q.Text = fmt.Sprintf("Run node %s (%s)?", q.Node, nr.node.Type)
		if nr.node.Purpose != "" {
			q.Text = nr.node.Purpose + " " + q.Text
		}
		return q, nil
	}
	v, err := a.binder.binding(nr).Value(nr.node, "approval.question", rawjson.Quote(nr.node.Approval.Question))
	if err != nil {
		return nil, err
	}
	q.Text = fault.Truncate(template.AsText(v), maxQuestion)
	return q, nil
}

// answered lets a node run, or denies the run.
func (a *approvals) answered(nr *nodeRun, q *Question, answer, by string) {
	a.rec.record(nr.frame, &event.Event{Event: event.ApprovalResolved, Node: nr.id(), Answer: answer, By: by, InputDigest: a.digests.question(nr, q)})
	if !plan.Denies(answer) {
		nr.answer = rawjson.Quote(answer)
		a.sched.enqueueReady(nr.frame)
		return
	}
	if a.stop.denied == nil {
		a.stop.denied = fault.New(fault.Execution, "Node %s was denied: %q was answered by %s", q.Node, answer, by).Suggest("Resume the run to be asked again")
		a.stop.denied.Node = q.Node
	}
	a.settler.cancel(nr)
	for _, fr := range a.questions.frames(nr.frame) {
		a.questions.withdraw(fr)
		a.settler.closeFrame(fr)
	}
}
