package reader

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Question is a question of a run that waits for a person's answer.
type Question struct {
	// Node is the path of the node that asks, by which it is answered.
	Node string `json:"node"`
	Text string `json:"question"`
	// Choices are the valid answers, or with AnyAnswer the suggested ones.
	Choices   []string `json:"choices"`
	AnyAnswer bool     `json:"any_answer,omitempty"`
	// Fields is the schema of an answer that is an object.
	Fields json.RawMessage `json:"fields,omitempty"`
	// Params are the parameters that the node would run with.
	Params json.RawMessage `json:"params,omitempty"`
	// By is "person" if only a person may answer.
	By string `json:"by,omitempty"`
}

// maxParam is the most characters of a text in the parameters of a question.
const maxParam = 2000

// openQuestions returns the questions of a run that are still to be answered, in the order of the nodes.
func openQuestions(h *history.Run, status event.Status, load event.Load) (open []Question, err error) {
	if status != event.Paused && status != journal.Running {
		return nil, nil
	}
	for n := range h.All() {
		if n.State != history.Waiting {
			continue
		}
		q := Question{Node: n.Path, Text: n.Question, Choices: n.Choices, AnyAnswer: n.AnyAnswer, Fields: n.Fields}
		if n.ByPerson {
			q.By = workflow.ByPerson
		}
		if q.Choices == nil {
			q.Choices = []string{}
		}
		if q.Params, err = valueOf(n.Params, maxParam, load); err != nil {
			return nil, err
		}
		open = append(open, q)
	}
	return open, nil
}

// limitQuestions keeps the beginnings of the first questions, which have about the given number of bytes as JSON.
func (o *Overview) limitQuestions(most int) {
	for i := range o.Questions {
		q := &o.Questions[i]
		q.Text, q.Params, q.Fields = fault.Truncate(q.Text, most/4), brief(q.Params, most/4), brief(q.Fields, most/2)
		q.Choices = first(q.Choices, most/4)
		raw, err := rawjson.Marshal(q)
		if most -= len(raw); err != nil || most < 0 && i > 0 {
			o.Questions, o.QuestionsTotal = o.Questions[:i], len(o.Questions)
			return
		}
	}
}
