package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
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
	from   *resume.Memory
	answer Answer
	// byPerson is Config.ByPerson.
	byPerson bool
	// marked is Config.Marked.
	marked bool
	// answers are the answers given beforehand, by node paths.
	answers map[string]Answer
	// answeredOnce has the nodes whose open question was answered. They may ask another one.
	answeredOnce map[string]bool
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

// ask asks a question about a node, or one that the node itself asks. The node goes on when it is answered.
func (a *approvals) ask(nr *nodeRun, q *Question) {
	a.record(nr, q)
	a.open(nr, q)
}

// record records a question.
func (a *approvals) record(nr *nodeRun, q *Question) {
	ev := &event.Event{
		Event: event.ApprovalRequested, Node: nr.id(), Question: a.store.redactor.Text(q.Text), Choices: q.Choices, Params: q.Params, AnyAnswer: q.AnyAnswer,
	}
	if q.Person = a.needsPerson(nr); q.Person {
		ev.By, ev.DeniedBy = workflow.ByPerson, a.from.DeniedBy(nr.path())
	}
	if q.Form != nil {
		ev.Fields, _ = a.store.redactor.JSON(json.RawMessage(q.Form))
	}
	nr.question = q
	if q.state == nil {
		a.rec.write(nr.frame, ev)
		return
	}
	ev.State, ev.InputDigest = q.state, nr.bound.digest
	if nr.node.Loop != nil {
		ev.Iteration = nr.iteration
	}
	a.rec.record(nr.frame, ev)
}

// open waits for the answer to a question.
func (a *approvals) open(nr *nodeRun, q *Question) {
	if given := a.answerFor(nr, q); given.Text != "" {
		a.answered(nr, q, given)
		return
	}
	a.questions.open[nr] = true
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
		if err != nil || !q.accepts(answer) { // without an answer the question stays open
			a.settler.closeFrame(nr.frame)
			return
		}
		delete(a.questions.open, nr)
		a.answered(nr, q, Answer{answer, by, true})
	})
}

// How an answer was given by a flag.
const (
	ByFlag = "--approve"
	// ByAuto is for all that the node may ask, whatever an earlier run has asked.
	ByAuto = "--auto-approve"
)

// needsPerson reports whether only a person may answer a question of a node: the run or the workflow says so, or a person has denied it.
func (a *approvals) needsPerson(nr *nodeRun) bool {
	return a.byPerson || nr.node.Approval != nil && nr.node.Approval.By == workflow.ByPerson || a.from.DeniedBy(nr.path()) != ""
}

// answerFor returns the answer given beforehand to a question, or to one that the resumed run left open. Without one, its text is empty.
func (a *approvals) answerFor(nr *nodeRun, q *Question) (none Answer) {
	open := a.from.IsOpen(q.Node) && !a.answeredOnce[q.Node]
	given, ok := a.answers[q.Node]
	if !ok {
		given, ok = a.answers[event.GenericPath(q.Node)]
	}
	if !ok && open {
		given = a.answer
	}
	if given.Text == "" || q.state != nil && !open { // what a node asks itself is not known beforehand
		return none
	}
	if !given.Person && a.needsPerson(nr) {
		a.warnings.add(fmt.Sprintf("node %s was not answered: only a person may answer it", q.Node))
		return none
	}
	if open && (given.By != ByAuto || q.state != nil) { // it was given to what was asked then
		before := a.from.Asked(q.Node)
		asked, params := before.Question, before.Params
		switch anew := nr.frame.ranBefore(nr.id()); {
		case anew != "": // a person who approved a deploy has not seen another build
			a.warnings.add(fmt.Sprintf("node %s was not answered: node %s has run again since it asked", q.Node, anew))
			return none
		case asked != a.store.redactor.Text(q.Text):
			a.warnings.add(fmt.Sprintf("node %s was not answered: it asks %q now, and asked %q before", q.Node, q.Text, asked))
			return none
		case params != nil && q.Params != nil && !bytes.Equal(rawjson.Compact(params), rawjson.Compact(q.Params)):
			a.warnings.add(fmt.Sprintf("node %s was not answered: it would run with other parameters now than when it asked", q.Node))
			return none
		}
	}
	if q.accepts(given.Text) {
		a.answeredOnce[q.Node] = a.answeredOnce[q.Node] || open
		return given
	}
	if q.Form != nil {
		a.warnings.add(fmt.Sprintf("node %s was not answered: %s", q.Node, q.Form.Check(given.Text).Message))
	} else {
		a.warnings.add(fmt.Sprintf("node %s cannot be answered %q, only %q", q.Node, given.Text, q.Choices))
	}
	return none
}

// beforehand returns the answers given beforehand, as run_started has them.
func (a *approvals) beforehand() map[string]string {
	given := map[string]string{}
	for path, answer := range a.answers {
		given[path] = a.shown(answer.Text)
	}
	if a.from == nil || a.answer.Text == "" {
		return given
	}
	for _, path := range a.from.Open() {
		if _, named := a.answers[path]; !named && a.from.Accepts(path, a.answer.Text) {
			given[path] = a.shown(a.answer.Text)
		}
	}
	return given
}

// shown returns an answer as it is written, without secrets.
func (a *approvals) shown(answer string) string {
	if strings.HasPrefix(answer, "{") && json.Valid([]byte(answer)) {
		clean, _ := a.store.redactor.JSON(json.RawMessage(answer))
		return string(clean)
	}
	return a.store.redactor.Text(answer)
}

// Choices returns the valid answers to the question of an approval.
func Choices(a *workflow.Approval) []string {
	if len(a.Choices) > 0 {
		return a.Choices
	}
	return []string{"yes", "no"}
}

// maxQuestion is the most bytes of a question. The rest is cut.
const maxQuestion = 16 << 10

// question returns the question to ask before a node runs.
func (a *approvals) question(nr *nodeRun) (*Question, error) {
	q := &Question{Node: nr.path(), Choices: Choices(nr.node.Approval)}
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

// preview adds to a question the parameters that the node would run with. It returns an error if the node could not run whatever
// the answer is.
func (a *approvals) preview(nr *nodeRun, q *Question) error {
	if a.marked {
		q.Params = a.from.Asked(nr.path()).Params
		return nil
	}
	binding := a.binder.binding(nr)
	binding.Locals[plan.AnswerName] = rawjson.Quote("${" + plan.AnswerName + "}")
	bound, err := a.binder.bind(nr, binding)
	if err != nil {
		uses, _ := plan.Uses(nr.node)
		byAnswer := slices.ContainsFunc(uses, func(u template.Use) bool { return u.Ref.Root == plan.AnswerName })
		if byAnswer || len(nr.frame.missingSecrets) > 0 { // it may be resolved after the answer
			return nil
		}
		return err
	}
	q.Params, _, err = a.store.keep(event.Escape(bound.Shown(nr.node)))
	return err
}

// answered lets a node run, or denies the run.
func (a *approvals) answered(nr *nodeRun, q *Question, given Answer) {
	a.rec.record(nr.frame, &event.Event{
		Event: event.ApprovalResolved, Node: nr.id(), Answer: a.shown(given.Text), By: given.By, Person: given.Person, AnyAnswer: q.AnyAnswer,
		InputDigest: a.digests.question(nr, q),
	})
	if q.AnyAnswer || !plan.Denies(given.Text) {
		if err := a.reply(nr, q, given.Text); err != nil {
			a.rec.abort(err)
			return
		}
		a.sched.enqueueReady(nr.frame)
		return
	}
	if a.stop.denied == nil {
		person := ""
		if !strings.HasPrefix(given.By, "--") { // else a flag gave it
			person = " by " + given.By
		}
		a.stop.denied = fault.New(fault.Execution, "Node %s was denied: it was answered %q%s", q.Node, given.Text, person).Suggest("Resume the run to be asked again")
		a.stop.denied.Node = q.Node
	}
	a.settler.cancel(nr)
	for _, fr := range a.questions.frames(nr.frame) {
		a.questions.withdraw(fr)
		a.settler.closeFrame(fr)
	}
}

// reply gives an answer to a node: to its templates, or to the node itself if that has asked.
func (a *approvals) reply(nr *nodeRun, q *Question, answer string) error {
	if q.state == nil {
		nr.answer = rawjson.Quote(answer)
		return nil
	}
	state, err := q.secretState, error(nil)
	if state == nil {
		state, err = a.store.plain(q.state)
	}
	nr.reply = &node.Answer{Text: answer, State: state}
	return err
}
