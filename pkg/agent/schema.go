package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// schema is what a result must fit.
type schema struct {
	source  json.RawMessage
	checker *jsonschema.Resolved
}

// newSchema compiles a schema; none is nil.
func newSchema(source json.RawMessage) (*schema, *fault.Fault) {
	if v := bytes.TrimSpace(source); len(v) == 0 || string(v) == "null" {
		return nil, nil
	}
	var compact bytes.Buffer
	var document jsonschema.Schema
	err := errors.Join(json.Compact(&compact, source), json.Unmarshal(source, &document))
	s := &schema{source: compact.Bytes()}
	if err == nil {
		s.checker, err = document.Resolve(nil)
	}
	if err != nil {
		f := fault.New(fault.Usage, "output_schema is no JSON Schema: %s", plainly(err))
		f.Path = "params.output_schema"
		return nil, f.Suggest(`A schema is an object such as {"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}`)
	}
	return s, nil
}

// plainly is an error of the schema's library without the names of Go types.
func plainly(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return "there is " + wrong.Value + " where it cannot be"
	}
	return strings.ReplaceAll(err.Error(), "jsonschema.", "")
}

// check says what of a value does not fit; nil stands for an answer without one.
func (s *schema) check(value json.RawMessage) error {
	if value == nil {
		return errors.New("it is no JSON")
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return errors.New("it is no JSON")
	}
	if err := s.checker.Validate(v); err != nil {
		return errors.New(fault.Short(plainly(err), maxWrong))
	}
	return nil
}

// maxWrong is how much is said of what does not fit.
const maxWrong = 1000

// object says whether every value that fits is an object.
func (s *schema) object() bool { return gjson.GetBytes(s.source, "type").Str == "object" }

// closed says whether every object in it names all its members and requires them, as the strict form of structured
// outputs wants it (platform.openai.com/docs/guides/structured-outputs).
func (s *schema) closed() bool { return closed(gjson.ParseBytes(s.source)) }

func closed(v gjson.Result) bool {
	if v.IsObject() && (v.Get("type").Str == "object" || v.Get("properties").IsObject()) {
		if v.Get("additionalProperties").Type != gjson.False {
			return false
		}
		var required []string
		for _, name := range v.Get("required").Array() {
			required = append(required, name.Str)
		}
		for name := range v.Get("properties").Map() {
			if !slices.Contains(required, name) {
				return false
			}
		}
	}
	all := true
	v.ForEach(func(_, member gjson.Result) bool {
		if member.IsObject() || member.IsArray() {
			all = closed(member)
		}
		return all
	})
	return all
}

// asked is what tells an agent of the schema in its prompt.
func (s *schema) asked() string {
	return "\n\nWhen you are done, answer with one JSON value and nothing else: no text around it and no code fence. It must fit this JSON Schema:\n" + string(s.source)
}

// correction asks for another answer.
func (s *schema) correction(wrong error) string {
	return "Your last answer does not fit the JSON Schema that was asked for: " + wrong.Error() + s.asked()
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
