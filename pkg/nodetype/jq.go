package nodetype

import "encoding/json"

// JQ is the jq node: a filter over JSON, in the language of jq. The program pflow-node-jq runs it.
type JQ struct {
	Filter   string                     `json:"filter" required:"" help:"the filter, in the language of jq 1.7, such as .items[] | select(.size > $least); it sees no environment and no files"`
	Input    json.RawMessage            `json:"input" help:"what it works on; text that holds JSON is taken as that JSON, empty text as no value at all; left out it is null"`
	Args     map[string]json.RawMessage `json:"args" help:"values for the filter's $variables, by name"`
	RawInput bool                       `json:"raw_input" default:"false" help:"take text as it is, also when it holds JSON"`
	Slurp    bool                       `json:"slurp" default:"false" help:"when the text holds several JSON values, such as NDJSON: work on the list of them; otherwise on one after the other, and input and inputs give those that follow"`
	Timeout  Seconds                    `json:"timeout" default:"30" help:"seconds until the filter is stopped"`
}

// JQOutputs is what a jq node leaves behind.
type JQOutputs struct {
	Result  json.RawMessage `json:"result" help:"the first value that the filter gave; null when it gave none"`
	Results json.RawMessage `json:"results" help:"all values that it gave, as a list; numbers keep their digits, keys are sorted"`
	Count   int             `json:"count" help:"how many they are"`
	Error   string          `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

func describeJQ() Type {
	t := describe("jq", "Select and change JSON with a jq filter", JQ{}, JQOutputs{})
	t.Program = ProgramPrefix + t.Name
	for i := range t.Outputs {
		if t.Outputs[i].Name == "results" {
			t.Outputs[i].Type = "list"
		}
	}
	return t
}
