package library

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// tool describes a workflow to those who offer it as a tool.
type tool struct {
	ID            string        `json:"id"`
	Name          string        `json:"name"`
	Description   string        `json:"description"`
	Category      string        `json:"category"`
	Version       string        `json:"version"`
	InputSchema   objectSchema  `json:"inputSchema"`
	OutputSchema  *objectSchema `json:"outputSchema,omitempty"`
	ExecutionType string        `json:"executionType"`
	Metadata      toolMetadata  `json:"metadata"`
}

type toolMetadata struct {
	Tags []string `json:"tags"`
}

// objectSchema is a JSON Schema (draft 2020-12) of an object with declared properties.
type objectSchema struct {
	Type                 string                  `json:"type"`
	Properties           map[string]*valueSchema `json:"properties"`
	Required             []string                `json:"required,omitempty"`
	AdditionalProperties *bool                   `json:"additionalProperties,omitempty"`
}

// valueSchema is the JSON Schema of an input or an output.
type valueSchema struct {
	Type        string          `json:"type,omitempty"`
	Description string          `json:"description,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	WriteOnly   bool            `json:"writeOnly,omitempty"`
	// Items is an empty schema for an array. Some clients refuse an array without it.
	Items *struct{} `json:"items,omitempty"`
}

// toolOf returns the JSON that describes a workflow as a tool. Secret defaults are not in it.
func toolOf(name string, file *workflow.File) (json.RawMessage, error) {
	w := file.Workflow
	return rawjson.Marshal(tool{
		ID:            name,
		Name:          name,
		Description:   cmp.Or(w.Description, "Run the workflow "+name),
		Category:      cmp.Or(w.Category, "workflow"),
		Version:       cmp.Or(file.Version, "1.0.0"),
		InputSchema:   inputSchema(w.Inputs),
		OutputSchema:  outputSchema(w.Outputs),
		ExecutionType: cmp.Or(w.ExecutionType, "async"),
		Metadata:      toolMetadata{append([]string{}, w.Tags...)},
	})
}

// inputSchema returns the schema of the arguments of a run. Only declared inputs are allowed.
func inputSchema(inputs map[string]workflow.Input) objectSchema {
	s := objectSchema{Type: "object", Properties: make(map[string]*valueSchema, len(inputs)), AdditionalProperties: new(bool)}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		in := inputs[name]
		v := &valueSchema{Description: in.Description, WriteOnly: in.Secret || redact.SecretName(name)}
		if in.Type != "any" {
			v.Type = in.Type
		}
		if in.Type == "array" {
			v.Items = &struct{}{}
		}
		if !v.WriteOnly {
			v.Default = in.Default
		}
		if in.IsRequired() {
			s.Required = append(s.Required, name)
		}
		s.Properties[name] = v
	}
	return s
}

// outputSchema returns the schema of the declared outputs of a run, or nil if the workflow declares no outputs. A run does not convert
// its outputs to their declared types, so the schema has no types, and an output may be missing from a run that has failed.
func outputSchema(outputs map[string]workflow.Output) *objectSchema {
	if len(outputs) == 0 {
		return nil
	}
	s := &objectSchema{Type: "object", Properties: make(map[string]*valueSchema, len(outputs))}
	for name, out := range outputs {
		s.Properties[name] = &valueSchema{Description: out.Description}
	}
	return s
}
