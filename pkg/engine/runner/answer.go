package runner

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// answer returns the answer to the open questions.
func (r *Request) answer() engine.Answer {
	return engine.Answer{Text: r.Answer, By: cmp.Or(r.By, engine.ByFlag), Person: r.Person}
}

// bindAnswers holds answers to the questions that were open in the run that they were given to, by its id or by last. A newer run that went
// on from it may ask something else by then.
func (l *Launch) bindAnswers() error {
	r := l.request
	if l.memory == nil || l.named == "" || l.named == l.memory.Run || r.Answer == "" && len(r.Answers) == 0 {
		return nil
	}
	named, seen := l.earlier(l.named), map[string]engine.Answer{}
	var other string // a question that the answer fits, and was not given to
	for _, node := range l.memory.Open() {
		_, given := r.Answers[node]
		fits := !given && r.Answer != "" && l.memory.Accepts(node, r.Answer)
		switch same := l.memory.SameQuestion(named, node); {
		case fits && same:
			seen[node] = r.answer()
		case fits || given && !same && named.IsOpen(node):
			other = node
		}
	}
	if len(seen) > 0 {
		maps.Copy(seen, r.Answers)
		r.Answers, r.Answer = seen, ""
	} else if other != "" {
		f := fault.New(fault.Conflict, "The answer was given to run %s, whose question has been answered. Run %s asks now: %s", l.named, l.memory.Run, l.memory.Asked(other).Question)
		f.Node = other
		return f.Then(fault.Step{Do: fault.DoAnswer, Run: l.memory.Run, Node: other, Choices: l.memory.Asked(other).Choices})
	}
	return nil
}

// checkAnswer refuses an answer that fits none of the questions that the run to go on from left open.
func (l *Launch) checkAnswer() error {
	if err := l.bindAnswers(); err != nil {
		return err
	}
	answer := l.request.Answer
	if answer == "" {
		return nil
	}
	if l.memory == nil {
		return fault.New(fault.Usage, "There is no run to go on from whose question could be answered").Suggest("Leave out the answer").
			Then(fault.Command("To answer beforehand, name the node", "--approve NODE=%s", answer))
	}
	var open []string
	var misfit, personal *fault.Fault
	for _, node := range l.memory.Open() {
		if l.memory.Accepts(node, answer) {
			f := l.checkPerson(node, l.request.answer())
			if f == nil {
				return nil
			}
			personal = cmp.Or(personal, f)
		}
		if fields := l.memory.Form(node); fields != nil {
			misfit = fields.Check(answer)
			misfit.Node = node
		}
		open = append(open, fmt.Sprintf("Node %s can be answered: %s", node, strings.Join(l.memory.Asked(node).Choices, ", ")))
	}
	switch {
	case personal != nil:
		return personal
	case len(open) == 0:
		return fault.New(fault.Usage, "Run %s has no open question", l.memory.Run).Suggest("Leave out the answer")
	case len(open) == 1 && misfit != nil:
		return misfit
	}
	return fault.New(fault.Usage, "%q is not an answer to a question of run %s", answer, l.memory.Run).Suggest("%s", strings.Join(open, "; "))
}

// checkAnswers refuses an answer given beforehand, or proposed, to a node that asks nothing, or that is not one of its choices.
func (l *Launch) checkAnswers() error {
	all := map[string]engine.Answer{}
	maps.Copy(all, l.request.Proposals)
	maps.Copy(all, l.request.Answers)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		given := all[path]
		choices, known := l.choices(path)
		if !known || len(choices) > 0 || l.memory != nil && l.memory.IsOpen(path) {
			if f := l.checkPerson(path, given); f != nil {
				return f
			}
		}
		switch {
		case !known || slices.Contains(choices, given.Text) || l.memory != nil && l.memory.Accepts(path, given.Text):
		case len(choices) == 0 && l.memory != nil && l.memory.Answered(path, given.Text): // it asked in the run, and is not asked again
		case len(choices) == 0:
			return unasked(&l.top, l.memory, path, given.By)
		case l.memory != nil && l.memory.Form(path) != nil:
			f := l.memory.Form(path).Check(given.Text)
			f.Node = path
			return f
		default:
			return fault.New(fault.Usage, "%q is not an answer to the question of node %s", given.Text, path).
				Then(fault.Step{Do: fault.DoAnswerWith, Node: path, Choices: choices})
		}
	}
	return nil
}

// checkPerson refuses an answer that no person has given to a question that only a person may answer.
func (l *Launch) checkPerson(path string, given engine.Answer) *fault.Fault {
	asking, _ := l.asking(path)
	denied := l.memory.DeniedBy(path)
	if given.Person || !l.settings.ApprovalByPerson && denied == "" && (asking == nil || asking.Approval == nil || asking.Approval.By != workflow.ByPerson) {
		return nil
	}
	f := fault.New(fault.Usage, "Only a person may answer the question of node %s", path)
	if denied != "" {
		f.Message += ": it was denied by " + denied
	}
	if f.Node = path; l.memory == nil || !l.memory.IsOpen(path) {
		return f.Suggest("Leave out the answer: a run that comes to the question asks it, or pauses")
	}
	step := fault.Step{Do: fault.DoAskPerson, Run: l.memory.Run, Node: path, Choices: l.memory.Asked(path).Choices, Name: l.request.Name}
	if fields := l.memory.Form(path); fields != nil {
		step.Example = fields.Example()
	}
	return f.Then(step)
}

// unasked returns the fault of an answer, given by a flag, to a node that has not asked and has no approval.
func unasked(top *flow.Flow, from *resume.Memory, path, by string) *fault.Fault {
	open := from.Open()
	tool := callsTool(top, path)
	f := fault.New(fault.Usage, "Node %q asks no question, so an answer to it has no effect", path)
	if tool {
		f = fault.New(fault.Usage, "Node %q can be answered only when its MCP server has asked", path)
	}
	if len(open) > 0 {
		f.Available = open
		return f.Suggest("Run %s waits for an answer to: %s", from.Run, strings.Join(open, ", ")).Then(fault.Step{Do: fault.DoAnswerWith, Node: open[0], AnyAnswer: true})
	}
	if tool {
		return f.Suggest("Leave out the answer. If the server asks, the run pauses and says how to answer")
	}
	nodes := approvalNodes(top, "")
	f.Offer(path, nodes)
	if near, ok := fault.Nearest(path, nodes); ok {
		f.Suggest("Did you mean %q?", near)
	}
	if len(f.Available) == 0 {
		return f.Suggest("Leave out the answer: no node of the workflow has an approval")
	}
	return f.Suggest("Leave out the answer. The nodes with an approval are: %s", strings.Join(f.Available, ", "))
}

// choices returns the answers to the question about a node, or none if it asks nothing. known is false if the node may be inside a
// workflow that only the run can name.
func (l *Launch) choices(path string) (choices []string, known bool) {
	if l.memory != nil && l.memory.IsOpen(path) {
		return l.memory.Asked(path).Choices, true
	}
	n, known := l.asking(path)
	if n == nil || n.Approval == nil {
		return nil, known
	}
	return engine.Choices(n.Approval), true
}

// asking returns the node at a path, or nil if there is none. known is false if the path leads into a workflow whose name is known only when
// the run comes to it.
func (l *Launch) asking(path string) (_ *workflow.Node, known bool) {
	sub, rest := &l.top, event.GenericPath(path)
	for {
		id, inner, deeper := strings.Cut(rest, "/")
		n, ok := sub.Workflow.Node(id)
		switch {
		case !ok:
			return nil, true
		case !deeper:
			return n, true
		}
		next, ok := sub.Subs[id]
		if !ok {
			return nil, sub.Kinds[n.Type].Name != workflow.SubType
		}
		sub, rest = next, inner
	}
}

// callsTool reports whether the node at a path calls a tool of an MCP server, which may ask.
func callsTool(sub *flow.Flow, path string) bool {
	id, inner, deeper := strings.Cut(event.GenericPath(path), "/")
	n, ok := sub.Workflow.Node(id)
	if !ok {
		return false
	}
	if next, ok := sub.Subs[id]; deeper && ok {
		return callsTool(next, inner)
	}
	return !deeper && sub.Kinds[n.Type].MCP != nil
}

// approvalNodes returns the paths of the nodes with an approval.
func approvalNodes(sub *flow.Flow, prefix string) (paths []string) {
	for _, n := range sub.Workflow.Nodes {
		if n.Approval != nil {
			paths = append(paths, prefix+n.ID)
		}
		if inner, ok := sub.Subs[n.ID]; ok {
			paths = append(paths, approvalNodes(inner, prefix+n.ID+"/")...)
		}
	}
	return paths
}

// checkAnswered returns a fault if a run to attach to was given another answer than the request has, or if it is live and was given
// none: it takes no answers before it has asked.
func (r *Request) checkAnswered(rec *journal.Reader, live bool) error {
	if r.Answer == "" && len(r.Answers) == 0 {
		return nil
	}
	run, err := memoryOf(rec)
	if err != nil {
		return nil //nolint:nilerr // a damaged run has no answers to compare
	}
	answers := run.Answers()
	if err := r.checkSameAnswers(rec.ID, answers); err != nil || !live {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(r.Answers)) {
		if len(answersTo(path, answers)) == 0 {
			f := fault.New(fault.Conflict, "Node %s of run %s has not asked yet, so it cannot be answered", path, rec.ID)
			f.Node = path
			return answerLater(f, rec)
		}
	}
	if r.Answer != "" && len(answers) == 0 {
		return answerLater(fault.New(fault.Conflict, "Run %s has not asked yet, so it cannot be answered", rec.ID), rec)
	}
	return nil
}

// answersOpen reports whether the request has an answer to a question that the run to go on from left open.
func (l once) answersOpen() bool {
	for _, path := range l.memory.Open() {
		_, given := l.request.Answers[path]
		_, generic := l.request.Answers[event.GenericPath(path)]
		if given || generic || l.request.Answer != "" {
			return true
		}
	}
	return false
}

// answerLater adds to a fault how to wait until a live run asks.
func answerLater(f *fault.Fault, rec *journal.Reader) *fault.Fault {
	f.Retryable = true
	return f.Suggest("Answer when it has paused with its questions").Then(fault.Step{Do: fault.DoWait, Run: rec.ID})
}

// checkTaken returns a fault if the run to go on from has another answer to a question that is not asked again.
func (l once) checkTaken(ctx context.Context) error {
	if l.memory == nil || len(l.request.Answers) == 0 {
		return nil
	}
	preview, err := engine.DryRun(ctx, l.config(""))
	if err != nil {
		return l.redactor.Fault(fault.From(err))
	}
	return l.request.checkSameAnswers(l.memory.Run, preview.Answers)
}

// checkSameAnswers returns a fault if a run was given another answer than the request has. Its answers are by the paths of their
// nodes.
func (r *Request) checkSameAnswers(run string, answers map[string]string) error {
	for _, path := range slices.Sorted(maps.Keys(r.Answers)) {
		given := r.Answers[path].Text
		if got := answersTo(path, answers); len(got) > 0 && !hasAnswer(got, given) {
			return r.answeredBefore(run, path, got[0], given)
		}
	}
	if all := slices.Sorted(maps.Keys(answers)); r.Answer != "" && len(all) > 0 && !hasAnswer(slices.Collect(maps.Values(answers)), r.Answer) {
		return r.answeredBefore(run, all[0], answers[all[0]], r.Answer)
	}
	return nil
}

// answersTo returns the answers to the question about a node. A path without the numbers of items and iterations stands for all of
// them.
func answersTo(path string, answers map[string]string) (found []string) {
	if answer, ok := answers[path]; ok {
		return []string{answer}
	}
	for _, asked := range slices.Sorted(maps.Keys(answers)) {
		if event.GenericPath(asked) == path || asked == event.GenericPath(path) {
			found = append(found, answers[asked])
		}
	}
	return found
}

// hasAnswer reports whether an answer is among others, as far as they show no secret.
func hasAnswer(answers []string, given string) bool {
	return slices.ContainsFunc(answers, func(has string) bool {
		return has == given || strings.Contains(has, redact.Mark) || rawjson.Equal(has, given)
	})
}

func (r *Request) answeredBefore(run, path, had, given string) error {
	return r.suggestAnew(fault.New(fault.Usage, "The question of node %s was answered %q in run %s, so it cannot be answered %q", path, had, run, given).
		Suggest("To go on with that answer, leave out the answer"))
}

// denies reports whether the request's answers to the open questions of the run to go on from are all denials, which end the run.
func denies(l *Launch) bool {
	open := l.memory.Open()
	return len(open) > 0 && !slices.ContainsFunc(open, func(path string) bool {
		answer := l.request.Answer
		if given, ok := l.request.Answers[path]; ok {
			answer = given.Text
		}
		return !l.memory.Denies(path, answer)
	})
}
