package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// questions are the open questions of a run.
type questions struct {
	// open has the nodes whose question is unanswered.
	open map[*nodeRun]bool
}

// withdraw withdraws the questions of a frame in which nothing more may start.
func (q *questions) withdraw(fr *frame) {
	for nr := range q.open {
		if nr.frame != fr {
			continue
		}
		delete(q.open, nr)
		delete(fr.running, nr.id())
		if nr.withdraw != nil {
			nr.withdraw()
		}
	}
}

// frames returns a frame and those with open questions, in the order of their prefixes.
func (q *questions) frames(fr *frame) []*frame {
	frames := []*frame{fr}
	for nr := range q.open {
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
func (q *questions) fault(resume fault.Step) *fault.Fault {
	var open []*Question
	for nr := range q.open {
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
