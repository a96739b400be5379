package main

import (
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/dependencies"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// example is the arguments of a call of execute that a workflow accepts.
type example struct {
	Name   string                     `json:"name"`
	Inputs map[string]json.RawMessage `json:"inputs"`
}

// exampleOf returns an example with a plausible value for each required input that neither the environment nor the settings have.
func exampleOf(name string, w *workflow.Workflow, available []dependencies.Setting) *example {
	e := &example{Name: name, Inputs: map[string]json.RawMessage{}}
	for name, in := range w.Inputs {
		if in.IsRequired() {
			e.Inputs[name] = plausible(name, in.Type)
		}
	}
	for _, s := range available {
		if name, ok := strings.CutPrefix(s.For, "input "); ok && s.Set {
			delete(e.Inputs, name)
		}
	}
	return e
}

// plausible returns a value of a type, for text one that fits the name.
func plausible(name, typ string) json.RawMessage {
	switch typ {
	case "number":
		return json.RawMessage("1.5")
	case "integer":
		return json.RawMessage("1")
	case "boolean":
		return json.RawMessage("true")
	case "object":
		return json.RawMessage("{}")
	case "array":
		return json.RawMessage("[]")
	}
	name = strings.ToLower(name)
	for _, text := range [][2]string{
		{"url", "https://example.com"}, {"email", "someone@example.com"}, {"date", "2026-01-31"}, {"file", "example.txt"}, {"path", "example.txt"},
		{"dir", "."}, {"folder", "."}, {"repo", "owner/name"},
	} {
		if strings.Contains(name, text[0]) {
			return json.RawMessage(`"` + text[1] + `"`)
		}
	}
	return json.RawMessage(`"text"`)
}
