package nodetype

import "encoding/json"

// Code is the code node: a program in another language, run in a process of its own. Its text is taken as it stands,
// without templates: values come to it as inputs.
type Code struct {
	Code     string                     `json:"code" required:"" help:"the program; templates are not resolved in it: give it values as inputs. What it assigns to result is the output"`
	Inputs   map[string]json.RawMessage `json:"inputs" help:"values, as variables of the program by their names; Python declares each with its type, as in: items: list"`
	Language string                     `json:"language" default:"\"python\"" enum:"[\"python\",\"node\",\"bash\"]" help:"python, node (JavaScript) or bash"`
	Timeout  Seconds                    `json:"timeout" default:"30" help:"seconds until the program and all it started are stopped"`
	Requires Names                      `json:"requires" help:"modules that must be installed; told before the program begins when one is not"`
	Cwd      string                     `json:"cwd" help:"the working directory, by default the run's"`
	Env      Texts                      `json:"env" help:"variables added to the environment"`
}

// CodeOutputs is what a code node leaves behind.
type CodeOutputs struct {
	Result json.RawMessage `json:"result,omitempty" help:"what the program assigned to result; absent when it failed"`
	Stdout Binary          `json:"stdout" help:"what it printed"`
	Stderr Binary          `json:"stderr" help:"what it printed to standard error"`
	Error  string          `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

// Names is a list of texts; other values are taken as they are spelled, and null as nothing.
type Names []string

// UnmarshalJSON reads a list.
func (n *Names) UnmarshalJSON(b []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*n = make(Names, 0, len(raw))
	for _, v := range raw {
		var text string
		if json.Unmarshal(v, &text) != nil {
			text = string(v)
		}
		if text != "" {
			*n = append(*n, text)
		}
	}
	return nil
}

func describeCode() Type {
	t := describe("code", "Run Python, JavaScript or bash on values", Code{}, CodeOutputs{})
	t.Actions = append(t.Actions, AnyAction)
	return t
}
