package settings

import (
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Key is a setting that has one value.
type Key struct {
	Name string
	Help string
	// JSON says that the value is JSON; else it is text.
	JSON bool
}

// Keys lists the settings besides env and the patterns for node types, sorted.
func Keys() []Key {
	return []Key{
		{Name: "llm.default_model", Help: "the model of llm nodes that name none"},
		{Name: "llm.prices", JSON: true, Help: `dollars for a million tokens, by model: {"MODEL": {"input": 3, "output": 15}}; llm.prices.MODEL sets one`},
		{Name: "llm.provider", Help: "openai or anthropic, where the model's name does not tell"},
		{Name: "runtime.template_resolution_mode", Help: "strict or permissive, for workflows that do not say it"},
	}
}

// KeyPath is the path of a setting in the file, and what is known of it. A name that is none is a usage_error with what
// there is.
func KeyPath(name string) ([]string, Key, error) {
	const prices = "llm.prices."
	if model, ok := strings.CutPrefix(name, prices); ok && model != "" {
		return []string{"llm", "prices", model}, Key{Name: name, JSON: true}, nil
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
		f.Suggest("pflow-lib settings set-env NAME sets a value for inputs and servers")
	}
	if strings.HasPrefix(name, "registry.") {
		f.Suggest("pflow-lib settings allow PATTERN and deny PATTERN say which node types may be used")
	}
	return nil, Key{}, f
}

// Value is the JSON of a value as a command line gives it.
func (k Key) Value(text string) (json.RawMessage, error) {
	if !k.JSON {
		return rawjson.Quote(text), nil
	}
	if !json.Valid([]byte(text)) {
		return nil, fault.New(fault.Usage, "The value of %s is no JSON", k.Name).
			Suggest(`Write it in single quotes, such as '{"input": 3, "output": 15}'`)
	}
	return json.RawMessage(text), nil
}
