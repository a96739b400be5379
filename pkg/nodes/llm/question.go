package llm

import (
	"fmt"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// question is one request, in neither API's words.
type question struct {
	model, system string
	turns         []turn
	// images are seen with the first turn.
	images      []image
	temperature *float64
	maxTokens   int
	// schema is what the answer must fit, or nil.
	schema *jsonschema.Schema
	// told says that the prompt tells the schema, and not the request's own field for it.
	told   bool
	effort string
	// budgeted says that effort is asked for as a number of tokens.
	budgeted bool
}

// turn is what the user said, or the model before.
type turn struct {
	text      string
	assistant bool
}

// instructions is the system prompt, with the schema where nothing else tells it.
func (q *question) instructions() string {
	if !q.told || q.schema == nil {
		return q.system
	}
	told := "Answer with one JSON object and nothing else: no text around it and no code fence. It must fit this JSON Schema:\n" + string(q.schema.Source())
	if q.system == "" {
		return told
	}
	return q.system + "\n\n" + told
}

// correct makes it the question for a better answer.
func (q *question) correct(said string, wrong error) {
	if said == "" {
		said = "(nothing)"
	}
	q.turns = append(q.turns, turn{text: said, assistant: true}, turn{text: fmt.Sprintf(
		"That answer does not fit the JSON Schema: %v.\nAnswer again, with only one JSON object that fits it. The schema:\n%s", wrong, q.schema.Source())})
}

// reply is what came back.
type reply struct {
	text string
	// stop is why the answer ended, in the API's words, and end the same in ours.
	stop  string
	end   ending
	usage nodetype.Usage
}

// ending is how an answer ended.
type ending int

const (
	_ ending = iota // whole
	// cutOff is one that reached the limit of its tokens.
	cutOff
	// overfull is one that reached the model's limit for question and answer together.
	overfull
	// declined is one that the model or a filter refused to give.
	declined
)

// unusable is the fault of an answer that is none, or nil.
func (r *reply) unusable(q *question) *fault.Fault {
	var f *fault.Fault
	switch {
	case r.end == declined:
		f = fault.New(fault.Execution, "The model refused to answer (%s)", r.stop).Suggest("Ask in another way, or another model")
		if r.text != "" {
			f.Message += ": " + fault.Truncate(r.text, maxShown)
		}
	case r.end == cutOff && (q.schema != nil || r.text == ""):
		f = fault.New(fault.Execution, "The answer was cut off after %d tokens (%s)", r.usage.OutputTokens, r.stop).
			Suggest("Give the node a higher max_tokens: thinking counts too, so less reasoning_effort helps as well")
	case r.end == overfull && (q.schema != nil || r.text == ""):
		f = tooLong(fault.New(fault.TooLarge, "The answer was cut off: question and answer are longer than model %q can take (%s)", q.model, r.stop))
	default:
		return nil
	}
	return f.Detail("stop_reason", r.stop)
}

// tooLong says what to do about a prompt that is.
func tooLong(f *fault.Fault) *fault.Fault {
	return f.Suggest("Shorten the prompt, split the work over several nodes (a batch), or use a model that can take more")
}

// maxShown is how much of a text from outside a message shows.
const maxShown = 300

// misfit is the fault of an answer that does not fit the schema, after it has been asked for once more.
func misfit(answer string, wrong error) *fault.Fault {
	f := fault.New(fault.Execution, "The answer does not fit output_schema, asked twice: %v", wrong)
	if answer == "" {
		f.Message += ". The answer is empty"
	} else {
		f.Message += ". The answer begins: " + fault.Truncate(answer, maxShown)
	}
	return f.Suggest("Say in the prompt what the fields mean, make output_schema simpler, or use a more capable model")
}
