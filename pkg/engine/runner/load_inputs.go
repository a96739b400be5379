package runner

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// load reads the file and returns its values together with the others.
func (in Inputs) load(host *Host) (map[string]workflow.Given, error) {
	inputs := map[string]workflow.Given{}
	if in.File != "" {
		b, err := host.Read(in.File, input.MaxDocument)
		if err != nil {
			return nil, err
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(b, &object); err != nil || object == nil {
			return nil, fault.New(fault.Usage, "--inputs %s does not hold a JSON object", in.File).Suggest(`Write it as {"name": value, …}`)
		}
		if err := input.CheckKeys("--inputs "+in.File, b); err != nil {
			return nil, err
		}
		for k, v := range object {
			inputs[k] = workflow.Given{JSON: v}
		}
	}
	maps.Copy(inputs, in.Values)
	return inputs, nil
}

// MissingInputs returns the names of the workflow's inputs that the request has no value for, sorted. It returns nil for a request to go
// on with the workflow of a run.
func (r *Request) MissingInputs() (names []string) {
	if r.file == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.file.Workflow.Inputs)) {
		if _, ok := r.Inputs[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// pipedInput reads standard input if an input takes it, has no other value, and something is piped in.
func pipedInput(host *Host, w *workflow.Workflow, inputs map[string]workflow.Given) (*string, error) {
	if host.Stdin == nil {
		return nil, nil
	}
	for name, in := range w.Inputs {
		if _, ok := inputs[name]; ok || !in.Stdin {
			continue
		}
		if info, err := host.Stdin.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, nil // a terminal or /dev/null
		}
		b, err := host.Read("-", input.MaxDocument)
		if err != nil {
			return nil, err
		}
		if !utf8.Valid(b) {
			return nil, fault.New(fault.Usage, "Standard input is not UTF-8 text, so input %q cannot take it", name).Suggest("Give the path of a file instead")
		}
		text := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
		return &text, nil
	}
	return nil, nil
}
