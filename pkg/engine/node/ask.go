package node

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/form"
)

// Question is what a node asks a person in place of ending. It is tried again with the answer.
type Question struct {
	Text string
	// Choices are the valid answers.
	Choices []string
	// AnyAnswer reports whether any other text is an answer too. Then no answer denies the run.
	AnyAnswer bool
	// Form has the fields of the answer, or is nil. The answer is then an object, or one of the choices.
	Form form.Form
	// State is what the node gets back with the answer.
	State json.RawMessage
}

// Answer is the answer to the question that a node has asked, with the state that it gave with it.
type Answer struct {
	Text  string          `json:"answer"`
	State json.RawMessage `json:"state"`
}

// readQuestion reads the member "$ask" of a program's object.
func readQuestion(ask gjson.Result, program string) (*Question, *fault.Fault) {
	q := &Question{Text: strings.Clone(ask.Get("question").Str), AnyAnswer: ask.Get("any_answer").Bool(), State: json.RawMessage(ask.Get("state").Raw)}
	if len(q.State) == 0 {
		q.State = json.RawMessage("null")
	}
	seen := map[string]bool{}
	for _, choice := range ask.Get("choices").Array() {
		if choice.Str == "" || seen[choice.Str] {
			return nil, invalidQuestion(program, "the choices must be different texts that are not empty")
		}
		seen[choice.Str] = true
		q.Choices = append(q.Choices, strings.Clone(choice.Str)) // the program's output may be mapped from a file
	}
	switch {
	case q.Text == "":
		return nil, invalidQuestion(program, "the question must be a text that is not empty")
	case len(q.Choices) == 0 && !q.AnyAnswer:
		q.Choices = []string{"yes", "no"}
	}
	return q, nil
}

func invalidQuestion(program, why string) *fault.Fault {
	return fault.New(fault.Protocol, `"$ask" of %s cannot be asked: %s`, program, why).
		Suggest(`Print {"$ask": {"question": TEXT, "choices": [TEXT, …], "state": VALUE}}`)
}
