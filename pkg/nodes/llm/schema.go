package llm

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// splitTypes replaces each list of types in a schema by anyOf with one schema for each type.
func splitTypes(m map[string]any) {
	jsonschema.Walk(m, func(_ string, s map[string]any) {
		kinds, ok := s["type"].([]any)
		if !ok {
			return
		}
		delete(s, "type")
		var choice []any
		for _, kind := range kinds {
			one := map[string]any{"type": kind}
			if kind != "null" {
				maps.Copy(one, s)
			}
			choice = append(choice, one)
		}
		description, described := s["description"]
		clear(s)
		s["anyOf"] = choice
		if described {
			s["description"] = description
		}
	})
}

// valueIn returns the object in an answer, or an error that says what is wrong with the answer.
func valueIn(answer string, s *jsonschema.Schema) (json.RawMessage, error) {
	text := unfenced(answer)
	if !strings.HasPrefix(text, "{") { // with the schema in the prompt, a model may add text around the object
		from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
		if from >= 0 && to > from {
			text = text[from : to+1]
		}
	}
	if err := s.Check([]byte(text)); err != nil {
		return nil, err
	}
	return rawjson.Compact([]byte(text)), nil
}

// unfenced returns a text without white space and a code fence around the whole of it.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	const fence = "```"
	inner, opened := strings.CutPrefix(text, fence)
	inner, closed := strings.CutSuffix(inner, fence)
	_, body, ok := strings.Cut(inner, "\n") // the rest of the first line names the language
	if !opened || !closed || !ok || strings.Contains(body, fence) {
		return text
	}
	return strings.TrimSpace(body)
}
