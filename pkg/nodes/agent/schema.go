package agent

import (
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// schemaPrompt returns the part of a prompt that asks for an answer by a schema.
func schemaPrompt(s *jsonschema.Schema) string {
	return "\n\nWhen you are done, answer with one JSON value and nothing else: no text around it and no code fence. It must fit this JSON Schema:\n" + string(s.Source())
}

// correction returns the prompt that asks for another answer.
func correction(s *jsonschema.Schema, wrong error) string {
	return "Your last answer does not fit the JSON Schema that was asked for: " + wrong.Error() + schemaPrompt(s)
}

// fence begins and ends a code block in Markdown.
const fence = "```"

// jsonIn returns the JSON value of a text, or of its only code block, or nil.
func jsonIn(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if before, rest, ok := strings.Cut(text, fence); ok && !json.Valid([]byte(text)) {
		block, after, closed := strings.Cut(rest, "\n"+fence)
		if !closed || strings.Contains(before+after, fence) {
			return nil
		}
		_, text, _ = strings.Cut(block, "\n") // after the name of the language
	}
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}
