package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// ask asks a person whether a node may run.
func (e *execution) ask(l *frame, a *nodeRun) {
	q, err := e.question(l, a)
	if err != nil {
		e.refuse(l, a, plan.Step{Node: a.node.ID, Do: plan.Attempt, Item: -1, Attempt: 1, Iteration: a.iteration}, err)
		return
	}
	e.write(l, &event.Event{Event: event.ApprovalRequested, Node: a.node.ID, Question: e.Redactor.Text(q.Text), Choices: q.Choices})
	if answer := e.answerFor(q); answer != "" {
		e.answered(l, a, q, answer, "--approve")
		return
	}
	e.questions[a], a.question = l, q
	if e.Ask == nil {
		return
	}
	ctx, cancel := context.WithCancel(l.ctx)
	a.unask = cancel
	var answer, by string
	e.async(func() {
		defer cancel()
		answer, by, err = e.Ask(ctx, *q)
	}, func() {
		if _, open := e.questions[a]; !open {
			return // it was taken back
		}
		if err != nil || !slices.Contains(q.Choices, answer) { // nobody answered: the question stays open
			e.closeFrame(l)
			return
		}
		delete(e.questions, a)
		e.answered(l, a, q, answer, by)
	})
}

// withdraw takes back the questions of a frame in which nothing more may start.
func (e *execution) withdraw(l *frame) {
	for a, of := range e.questions {
		if of != l {
			continue
		}
		delete(e.questions, a)
		delete(l.running, a.node.ID)
		if a.unask != nil {
			a.unask()
		}
	}
}

// answerFor is the answer given beforehand to a question that the run resumed left open.
func (e *execution) answerFor(q *Question) string {
	if e.From == nil || e.Answer == "" || !e.From.Open[q.Node] {
		return ""
	}
	if asked := e.From.asked[q.Node]; asked != e.Redactor.Text(q.Text) { // nobody has seen this question
		e.warn(fmt.Sprintf("node %s was not answered: it asks %q now, and asked %q before", q.Node, q.Text, asked))
		return ""
	}
	if slices.Contains(q.Choices, e.Answer) {
		return e.Answer
	}
	e.warn(fmt.Sprintf("node %s cannot be answered %q, only %q", q.Node, e.Answer, q.Choices))
	return ""
}

// choicesOf are the answers that there are.
func choicesOf(a *workflow.Approval) []string {
	if len(a.Choices) > 0 {
		return a.Choices
	}
	return []string{"yes", "no"}
}

// maxQuestion is how many bytes of a question are asked, more than anybody reads.
const maxQuestion = 16 << 10

// question is what is asked before a node runs.
func (e *execution) question(l *frame, a *nodeRun) (*Question, error) {
	q := &Question{Node: l.path(a.node.ID), Choices: choicesOf(a.node.Approval)}
	if a.node.Approval.Question == "" {
		q.Text = fmt.Sprintf("Run node %s (%s)?", q.Node, a.node.Type)
		if a.node.Purpose != "" {
			q.Text = a.node.Purpose + " " + q.Text
		}
		return q, nil
	}
	v, err := e.binding(l, a).Value(a.node, "approval.question", rawjson.Quote(a.node.Approval.Question))
	if err != nil {
		return nil, err
	}
	q.Text = fault.Truncate(template.AsText(v), maxQuestion)
	return q, nil
}

// questionDigest is the hash of what a person was asked about: another question, or another node, needs another answer.
func (e *execution) questionDigest(a *nodeRun, q *Question) string {
	parts := []json.RawMessage{rawjson.Quote(a.node.Type), e.Redactor.Named(a.node.Params), rawjson.Quote(e.Redactor.Text(q.Text))}
	for _, c := range q.Choices {
		parts = append(parts, rawjson.Quote(c))
	}
	return hash(parts...)
}

// answered lets a node run, or denies the run.
func (e *execution) answered(l *frame, a *nodeRun, q *Question, answer, by string) {
	e.record(l, &event.Event{Event: event.ApprovalResolved, Node: a.node.ID, Answer: answer, By: by, InputDigest: e.questionDigest(a, q)})
	if !plan.Denies(answer) {
		a.answer = rawjson.Quote(answer)
		e.enqueueReady(l)
		return
	}
	if e.denied == nil {
		e.denied = fault.New(fault.Execution, "Node %s was denied: %q was answered by %s", q.Node, answer, by).Suggest("Resume the run to be asked again")
		e.denied.Node = q.Node
	}
	e.cancel(l, a)
	levels := map[*frame]bool{l: true}
	for _, other := range e.questions {
		levels[other] = true
	}
	for other := range levels {
		e.withdraw(other)
		e.closeFrame(other)
	}
}
