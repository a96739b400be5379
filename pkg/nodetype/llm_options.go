package nodetype

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// fieldsOfParameters maps the fields of a request that a parameter sets, in the spelling of either API, to that parameter.
var fieldsOfParameters = map[string]string{
	"model": "model", "messages": "prompt", "system": "system", "temperature": "temperature",
	"max_tokens": "max_tokens", "max_completion_tokens": "max_tokens", "response_format": "output_schema", "output_format": "output_schema",
	"reasoning_effort": "reasoning_effort",
}

// fieldsOfThinking are the fields of a request by which providers limit the thinking.
var fieldsOfThinking = []string{"thinking", "reasoning", "output_config", "extra_body"}

// LLMOptionsFault returns what is wrong with the names in model_options, or nil. thinks reports whether the node has
// reasoning_effort or reasoning_max_tokens.
func LLMOptionsFault(options map[string]json.RawMessage, thinks bool) *fault.Fault {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		param, taken := fieldsOfParameters[name]
		var f *fault.Fault
		switch {
		case taken:
			f = fault.New(fault.Execution, "model_options cannot set %q, which the parameter %s sets", name, param).Suggest("Set the parameter %s", param)
		case name == "stream":
			f = fault.New(fault.Execution, "model_options cannot set %q: the answer is read as a whole", name).Suggest("Remove it")
		case thinks && slices.Contains(fieldsOfThinking, name):
			f = fault.New(fault.Execution, "model_options cannot set %q beside reasoning_effort or reasoning_max_tokens", name).Suggest("Keep one of them")
		default:
			continue
		}
		f.Path = "params.model_options"
		return f
	}
	return nil
}
