package nodetype

import "encoding/json"

// JQ is the jq node: a filter over JSON, in the language of jq. The program pflow-node-jq runs it.
type JQ struct {
	Filter   string                     `json:"filter" required:"" help:"the filter, in the language of jq 1.7, such as .items[] | select(.size > $least); it sees no environment and no files"`
	Input    json.RawMessage            `json:"input" help:"the input of the filter; text that holds JSON is parsed, and empty text is no value; by default null"`
	Args     map[string]json.RawMessage `json:"args" help:"values for the filter's $variables, by name"`
	RawInput bool                       `json:"raw_input" default:"false" help:"do not parse text as JSON"`
	Slurp    bool                       `json:"slurp" default:"false" help:"pass several JSON values, such as NDJSON, as one list; otherwise the filter runs on each, and input and inputs read the next ones"`
	Timeout  Seconds                    `json:"timeout" help:"how long the filter may take; by default no limit"`
}

// JQOutputs are the outputs of a jq node.
type JQOutputs struct {
	Result  json.RawMessage `json:"result,omitempty" help:"the result of the filter if it has exactly one; null if it has none, and absent if it has several"`
	Results json.RawMessage `json:"results" help:"all results as a list; numbers keep their digits, keys are sorted"`
	Count   int             `json:"count" help:"the number of results"`
	Error   string          `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

func describeJQ() Type {
	t := describe("jq", "Select and change JSON with a jq filter", JQ{}, JQOutputs{})
	t.Program, t.DependsOn = ProgramPrefix+t.Name, OnValues
	for i := range t.Outputs {
		if t.Outputs[i].Name == "results" {
			t.Outputs[i].Type = "list"
		}
	}
	return t
}
