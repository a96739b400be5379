package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// asker knows the questions of a run: what is asked before a node runs, what was answered beforehand, and which questions are open.
type asker struct {
	// from is what earlier runs did, or nil. answer answers the questions that it left open.
	from   *resume.Memory
	answer Answer
	// byPerson is Config.ByPerson, marked Config.Marked.
	byPerson, marked bool
	// answers are the answers given beforehand, by node paths.
	answers map[string]Answer
	// answeredOnce has the nodes whose open question was answered. They may ask another one.
	answeredOnce map[string]bool
	// open has the nodes whose question is unanswered.
	open map[*nodeRun]bool

	store    *store
	values   *values
	warnings *warnings
}

// How an answer was given by a flag.
const (
	ByFlag = "--approve"
	// ByAuto is for all that the node may ask, whatever an earlier run has asked.
	ByAuto = "--auto-approve"
)

// needsPerson reports whether only a person may answer a question of a node: the run or the workflow says so, or a person has denied it.
func (a *asker) needsPerson(nr *nodeRun) bool {
	return a.byPerson || nr.node.Approval != nil && nr.node.Approval.By == workflow.ByPerson || a.from.DeniedBy(nr.path()) != ""
}

// answerFor returns the answer given beforehand to a question, or to one that the resumed run left open. Without one, its text is empty.
func (a *asker) answerFor(nr *nodeRun, q *Question) (none Answer) {
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
func (a *asker) beforehand() map[string]string {
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
func (a *asker) shown(answer string) string {
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
func (a *asker) question(nr *nodeRun) (*Question, error) {
	q := &Question{Node: nr.path(), Choices: Choices(nr.node.Approval)}
	if nr.node.Approval.Question == "" {
		q.Text = fmt.Sprintf("Run node %s (%s)?", q.Node, nr.node.Type)
		if nr.node.Purpose != "" {
			q.Text = nr.node.Purpose + " " + q.Text
		}
		return q, nil
	}
	v, err := a.values.binding(nr).Value(nr.node, "approval.question", rawjson.Quote(nr.node.Approval.Question))
	if err != nil {
		return nil, err
	}
	q.Text = fault.Truncate(template.AsText(v), maxQuestion)
	return q, nil
}

// preview adds to a question the parameters that the node would run with. It returns an error if the node could not run whatever
// the answer is.
func (a *asker) preview(nr *nodeRun, q *Question) error {
	if a.marked {
		q.Params = a.from.Asked(nr.path()).Params
		return nil
	}
	binding := a.values.binding(nr)
	binding.Locals[plan.AnswerName] = rawjson.Quote("${" + plan.AnswerName + "}")
	bound, err := a.values.bind(nr, binding)
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

// withdraw withdraws the questions of a frame in which nothing more may start.
func (a *asker) withdraw(fr *frame) {
	for nr := range a.open {
		if nr.frame != fr {
			continue
		}
		delete(a.open, nr)
		delete(fr.running, nr.id())
		if nr.withdraw != nil {
			nr.withdraw()
		}
	}
}

// frames returns a frame, unless it is nil, and those with open questions, in the order of their prefixes.
func (a *asker) frames(fr *frame) []*frame {
	var frames []*frame
	if fr != nil {
		frames = append(frames, fr)
	}
	for nr := range a.open {
		if !slices.Contains(frames, nr.frame) {
			frames = append(frames, nr.frame)
		}
	}
	slices.SortFunc(frames, func(a, b *frame) int { return strings.Compare(a.prefix, b.prefix) })
	return frames
}

// maxQuestions is how many open questions a paused run lists. It counts the others.
const maxQuestions = 10

// fault returns the fault of a run that is paused, which asks the open questions. resume is the step that goes on from it.
func (a *asker) fault(resume fault.Step) *fault.Fault {
	var open []*Question
	for nr := range a.open {
		open = append(open, nr.question)
	}
	slices.SortFunc(open, func(a, b *Question) int { return strings.Compare(a.Node, b.Node) })
	f := fault.New(fault.Execution, "The run waits for a person's answer: %s", open[0].Text)
	f.Node = open[0].Node
	for _, other := range open[1:min(len(open), maxQuestions)] {
		f.Message += fmt.Sprintf("; and node %s asks: %s", other.Node, other.Text)
	}
	if more := len(open) - maxQuestions; more > 0 {
		f.Message += fmt.Sprintf("; and %d more questions", more)
	}
	forms := map[string]json.RawMessage{}
	for _, asked := range open[:min(len(open), maxQuestions)] {
		if asked.Form != nil {
			forms[asked.Node] = json.RawMessage(asked.Form)
		}
	}
	if len(forms) > 0 {
		f.Detail("fields", forms)
	}
	for _, asked := range open[:min(len(open), maxQuestions)] {
		f.Then(asked.step(resume))
	}
	for _, asked := range open[:min(len(open), maxQuestions)] {
		if asked.Params != nil {
			f.Suggest("Node %s would run with: %s", asked.Node, fault.Truncate(string(asked.Params), maxShownParams))
		}
	}
	return f
}

// maxShownParams is the most bytes that a suggestion shows of a node's parameters.
const maxShownParams = 1000

// step returns the step of answering the question in the run that resume goes on from.
func (q *Question) step(resume fault.Step) fault.Step {
	resume.Do, resume.Node, resume.Choices, resume.AnyAnswer = fault.DoAnswer, q.Node, q.Choices, q.AnyAnswer
	if q.Person {
		resume.Do = fault.DoAskPerson
	}
	if q.Form != nil {
		resume.Example = q.Form.Example()
	}
	return resume
}
