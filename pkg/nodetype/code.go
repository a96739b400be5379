package nodetype

import "encoding/json"

// Code is the code node: a program in another language, run in a process of its own. Templates in its text are not resolved:
// values come as inputs.
type Code struct {
	Code     string                     `json:"code" required:"" help:"the program, in which templates are not resolved: pass values as inputs. Its variable result is the output, and its variable next names the node that follows"`
	Inputs   map[string]json.RawMessage `json:"inputs" help:"values that become variables of the program, by name; Python code declares each with its type, such as items: list"`
	Language string                     `json:"language" default:"\"python\"" enum:"[\"python\",\"node\",\"bash\"]" help:"python, node (JavaScript) or bash"`
	Timeout  Seconds                    `json:"timeout" help:"how long the program may take before it and all its processes are stopped; by default no limit"`
	Requires Names                      `json:"requires" help:"modules that must be installed; checked before the program starts"`
	Cwd      string                     `json:"cwd" help:"the working directory; by default the run's"`
	Env      Texts                      `json:"env" help:"environment variables to add"`
}

// CodeOutputs are the outputs of a code node.
type CodeOutputs struct {
	Result json.RawMessage `json:"result,omitempty" help:"the value of the variable result; absent if the program failed"`
	Stdout Binary          `json:"stdout" help:"standard output"`
	Stderr Binary          `json:"stderr" help:"standard error"`
	Error  string          `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

// Names is a list of text. Other values become the text of their JSON, and empty text and null are left out.
type Names []string

// UnmarshalJSON reads a JSON list.
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
	t := describe("code", "Run Python, JavaScript or bash code on values", Code{}, CodeOutputs{})
	t.Actions = append(t.Actions, AnyAction)
	return t
}
