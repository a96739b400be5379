package llm

import (
	"fmt"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// question is a request, in a form that does not depend on the API.
type question struct {
	model, system string
	turns         []turn
	// images belong to the first turn.
	images      []image
	temperature *float64
	maxTokens   int
	// schema is the schema of the answer, or nil.
	schema *jsonschema.Schema
	// schemaInPrompt reports whether the system prompt has the schema, because the API does not support schemas.
	schemaInPrompt bool
	effort         string
	// thinking is the maximum number of tokens of thinking, or 0.
	thinking int
	// effortAsBudget reports whether the API needs the effort as a number of tokens.
	effortAsBudget bool
	// cached reports whether the API is asked to keep the instructions and the first turn in its cache.
	cached bool
	// options are further fields of the request.
	options map[string]any
}

// turn is a message of the user, or an earlier answer of the model.
type turn struct {
	text      string
	assistant bool
}

// instructions returns the system prompt, followed by the schema if the API does not support schemas.
func (q *question) instructions() string {
	if !q.schemaInPrompt || q.schema == nil {
		return q.system
	}
	schema := "Answer with one JSON object and nothing else: no text around it and no code fence. It must fit this JSON Schema:\n" + string(q.schema.Source())
	if q.system == "" {
		return schema
	}
	return q.system + "\n\n" + schema
}

// correct adds an answer that does not fit the schema, and a request for a better one.
func (q *question) correct(said string, wrong error) {
	if said == "" {
		said = "(nothing)"
	}
	q.turns = append(q.turns, turn{text: said, assistant: true}, turn{text: fmt.Sprintf(
		"That answer does not fit the JSON Schema: %v.\nAnswer again, with only one JSON object that fits it. The schema:\n%s", wrong, q.schema.Source())})
}

// reply is an answer of the model.
type reply struct {
	text string
	// stop is why the answer ended, as the API names it. end is the same for all APIs.
	stop  string
	end   ending
	usage nodetype.Usage
}

// ending is why an answer ended.
type ending int

const (
	_ ending = iota // it is complete
	// cutOff means that it reached max_tokens.
	cutOff
	// contextFull means that question and answer together reached the limit of the model.
	contextFull
	// refused means that the model or a filter refused to answer.
	refused
)

// unusable returns a fault if a reply holds no usable answer, and else nil.
func (r *reply) unusable(q *question) *fault.Fault {
	var f *fault.Fault
	switch {
	case r.end == refused:
		f = fault.New(fault.Execution, "The model refused to answer (%s)", r.stop).Suggest("Reword the prompt, or use another model")
		if r.text != "" {
			f.Message += ": " + fault.Truncate(r.text, maxShown)
		}
	case r.end == cutOff && (q.schema != nil || r.text == ""):
		f = fault.New(fault.Execution, "The answer was cut off after %d tokens (%s)", r.usage.OutputTokens, r.stop).
			Suggest("Increase max_tokens, or reduce reasoning_effort: thinking counts too")
	case r.end == contextFull && (q.schema != nil || r.text == ""):
		f = suggestShorter(fault.New(fault.TooLarge, "The answer was cut off: question and answer together exceed the limit of model %q (%s)", q.model, r.stop))
	default:
		return nil
	}
	return f.Detail("stop_reason", r.stop)
}

// suggestShorter adds what to do about a prompt that is too long.
func suggestShorter(f *fault.Fault) *fault.Fault {
	return f.Suggest("Shorten the prompt, split the work into several nodes (a batch), or use a model with a larger context")
}

// maxShown is the maximum number of bytes that a message shows of a text from outside.
const maxShown = 300

// schemaMismatch returns the fault for a second answer that does not fit the schema.
func schemaMismatch(answer string, wrong error) *fault.Fault {
	f := fault.New(fault.Execution, "The answer does not fit output_schema, asked twice: %v", wrong)
	if answer == "" {
		f.Message += ". The answer is empty"
	} else {
		f.Message += ". The answer begins: " + fault.Truncate(answer, maxShown)
	}
	return f.Suggest("Explain the fields in the prompt, simplify output_schema, or use a more capable model")
}
