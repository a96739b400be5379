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

// fault returns the fault of a run that is paused, which asks the open questions. resume is the command that resumes the run.
func (q *questions) fault(run, resume string) *fault.Fault {
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
	answer := "ANSWER"
	if len(open) > 1 {
		answer = "NODE=ANSWER"
	}
	f.SuggestCommand("Answer with: %s --approve %s, where ANSWER is %s", resume, answer, open[0].answers("'")).
		SuggestTool("Ask the person, then call execute with the same name, resume %q and answers {%q: ANSWER}, where ANSWER is %s", run, open[0].Node, open[0].answers(""))
	for _, other := range open[1:min(len(open), maxQuestions)] {
		f.SuggestTool("The answer of node %s is %s", other.Node, other.answers(""))
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

// answers says what the valid answers are, in the words that follow "is". An object is put in quotes.
func (q *Question) answers(quote string) string {
	switch choices := strings.Join(q.Choices, ", "); {
	case q.Form != nil:
		return fmt.Sprintf("a JSON object such as %s%s%s, or one of: %s", quote, q.Form.Example(), quote, choices)
	case !q.AnyAnswer:
		return "one of: " + choices
	case choices == "":
		return "any text"
	default:
		return "any text, such as one of: " + choices
	}
}
