package llm

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// plainTypes writes each list of types as a choice among schemas of one type each.
func plainTypes(m map[string]any) {
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

// valueIn is the object that an answer holds, or what is wrong with the answer.
func valueIn(said string, s *jsonschema.Schema) (json.RawMessage, error) {
	text := unfenced(said)
	if !strings.HasPrefix(text, "{") { // a model that is only told the schema may talk around its answer
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

// unfenced is a text without the code fence that stands around the whole of it, and without blanks around that.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	const fence = "```"
	inner, opened := strings.CutPrefix(text, fence)
	inner, closed := strings.CutSuffix(inner, fence)
	_, body, ok := strings.Cut(inner, "\n") // what stands behind the fence names the language
	if !opened || !closed || !ok || strings.Contains(body, fence) {
		return text
	}
	return strings.TrimSpace(body)
}
