package agent

import (
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// asked is what tells an agent of the schema in its prompt.
func asked(s *jsonschema.Schema) string {
	return "\n\nWhen you are done, answer with one JSON value and nothing else: no text around it and no code fence. It must fit this JSON Schema:\n" + string(s.Source())
}

// correction asks for another answer.
func correction(s *jsonschema.Schema, wrong error) string {
	return "Your last answer does not fit the JSON Schema that was asked for: " + wrong.Error() + asked(s)
}

// fence is what Markdown puts around code.
const fence = "```"

// jsonIn is the JSON value that a text is, or that stands in its only block of code; nil when there is none.
func jsonIn(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if before, rest, ok := strings.Cut(text, fence); ok && !json.Valid([]byte(text)) {
		block, after, closed := strings.Cut(rest, "\n"+fence)
		if !closed || strings.Contains(before+after, fence) {
			return nil
		}
		_, text, _ = strings.Cut(block, "\n") // behind the name of the language
	}
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}
