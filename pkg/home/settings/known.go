package settings

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Key is a setting with one value.
type Key struct {
	Name string
	Help string
	// JSON is true if the value is JSON, false if it is text.
	JSON bool
}

// Keys returns the settings except env, vars and the patterns for node types, sorted by name.
func Keys() []Key {
	return []Key{
		{Name: "approval.by", Help: "person takes the answers to questions of all runs only from a person, not from a program such as an agent; anyone is the default"},
		{Name: "llm.default_model", Help: "the model of llm nodes without one"},
		{Name: "llm.prices", JSON: true, Help: `dollars for a million tokens, by model: {"MODEL": {"input": 3, "output": 15}}; llm.prices.MODEL sets one`},
		{Name: "llm.provider", Help: "openai or anthropic, if the model's name does not decide"},
		{Name: "runtime.fail_degraded", JSON: true, Help: "true gives degraded runs the exit status 1, for workflows that do not set it"},
		{Name: "runtime.max_output", Help: "how much the nodes of a run may put out, such as 30MB, for workflows that do not set it"},
		{Name: "runtime.max_runs", JSON: true, Help: "how many runs may be executed at the same time; the others wait, with the status queued"},
		{Name: "runtime.template_resolution_mode", Help: "strict or permissive, for workflows that do not set it"},
	}
}

// KeyPath returns the path of a setting in the file, and the setting. For an unknown name the error is a usage_error that lists
// the known ones.
func KeyPath(name string) ([]string, Key, error) {
	const prices = "llm.prices."
	if model, ok := strings.CutPrefix(name, prices); ok && model != "" {
		return []string{"llm", "prices", model}, Key{Name: name, JSON: true}, nil
	}
	if runner, ok := strings.CutPrefix(name, "runners."); ok {
		if f := CheckRunner(runner, "-"); f != nil {
			f.Type = fault.Usage
			return nil, Key{}, f
		}
		return []string{"runners", runner}, Key{Name: name}, nil
	}
	var names []string
	for _, k := range Keys() {
		if k.Name == name {
			return strings.Split(name, "."), k, nil
		}
		names = append(names, k.Name)
	}
	f := fault.New(fault.Usage, "There is no setting %q", name)
	f.Available = names
	if near, ok := fault.Nearest(name, names); ok {
		f.Suggest("Did you mean %s?", near)
	}
	if strings.HasPrefix(name, "env.") {
		f.Then(fault.Command("Set a value for inputs and servers", "pflow-lib settings set-env NAME"))
	}
	if strings.HasPrefix(name, "vars.") {
		f.Then(fault.Command("Set a value for inputs that is not secret", "pflow-lib settings set-var NAME=VALUE"))
	}
	if strings.HasPrefix(name, "registry.") {
		f.Then(fault.Command("Choose the node types that may be used", "pflow-lib settings allow PATTERN, pflow-lib settings deny PATTERN"))
	}
	return nil, Key{}, f
}

// Value returns the JSON of a value from a command line.
func (k Key) Value(text string) (json.RawMessage, error) {
	if k.Name == "approval.by" && !isApprover(text) {
		return nil, fault.New(fault.Usage, "The value of %s must be anyone or person, not %s", k.Name, fault.Truncate(text, maxShownValue))
	}
	if !k.JSON {
		return rawjson.Quote(text), nil
	}
	switch n, err := strconv.Atoi(text); {
	case k.Name == "runtime.max_runs" && (err != nil || n < 1):
		return nil, fault.New(fault.Usage, "The value of %s must be a whole number of at least 1, not %s", k.Name, fault.Truncate(text, maxShownValue)).
			Then(fault.Command("Let four runs be executed at the same time", "pflow-lib settings set %s 4", k.Name), fault.Command("Remove the limit", "pflow-lib settings unset %s", k.Name))
	case k.Name == "runtime.fail_degraded" && text != "true" && text != "false":
		return nil, fault.New(fault.Usage, "The value of %s must be true or false, not %s", k.Name, fault.Truncate(text, maxShownValue))
	case !json.Valid([]byte(text)):
		return nil, fault.New(fault.Usage, "The value of %s must be JSON", k.Name).
			Suggest(`Write true or false, or an object in single quotes, such as '{"input": 3, "output": 15}'`)
	}
	return json.RawMessage(text), nil
}

// maxShownValue is the most bytes of a wrong value that an error repeats.
const maxShownValue = 100
