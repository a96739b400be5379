package veloflux

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
)

// Tool is one thing that can be asked of the Manager.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	// ReadOnly, Destructive and Idempotent say what a call does to the Manager.
	ReadOnly    bool `json:"read_only"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`

	call func(ctx context.Context, m *Manager) (json.RawMessage, error)
}

// Tools is the table of tools, by name.
func Tools() []Tool {
	return []Tool{
		{
			Name: "streams.list", Title: "List streams",
			Description: "List the streams of the veloFlux Manager, each with its name and schema (columns with name and data_type). " +
				"A pipeline's SQL selects FROM these names; they are case-sensitive.",
			InputSchema:  json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"streams":{"type":"array","items":{"type":"object"}}},"required":["streams"]}`),
			ReadOnly:     true, Idempotent: true, call: listStreams,
		},
	}
}

func listStreams(ctx context.Context, m *Manager) (json.RawMessage, error) {
	body, err := m.get(ctx, "/streams")
	if err != nil {
		return nil, err
	}
	if !json.Valid(body) || !gjson.ParseBytes(body).IsArray() {
		return nil, malformed("GET /streams", "JSON list", body)
	}
	return slices.Concat([]byte(`{"streams":`), body, []byte("}")), nil
}
