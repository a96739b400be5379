// Package form checks the answers to forms: what an MCP server asks a person during a call, see elicitation/create in the
// specification.
package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// The actions of an answer.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// Form is a question that is answered with the values of fields. Its JSON is the schema of the answer, an object.
type Form json.RawMessage

// Choices returns the answers to a form other than an object.
func (f Form) Choices() []string {
	choices := []string{"no", "cancel"}
	if f.check("{}") == nil {
		choices = slices.Insert(choices, 0, "yes")
	}
	return choices
}

// Check returns why a text is not an answer to the form, or nil. An answer is a JSON object with the values of the fields, yes for
// an empty one, no or decline, or cancel.
func (f Form) Check(answer string) *fault.Fault {
	if action, content := f.Parse(answer); action == Accept {
		return f.check(content)
	}
	return nil
}

// Parse returns what an answer does, and its object if the action is Accept.
func (f Form) Parse(answer string) (action, content string) {
	switch answer = strings.TrimSpace(answer); answer {
	case "no", Decline:
		return Decline, ""
	case Cancel:
		return Cancel, ""
	case "yes":
		return Accept, "{}"
	default:
		return Accept, answer
	}
}

// check returns why a text is not an object with the values of the fields, or nil.
func (f Form) check(content string) *fault.Fault {
	refuse := func(path, format string, args ...any) *fault.Fault {
		wrong := fault.New(fault.Usage, "The answer does not fit the form: %s", fmt.Sprintf(format, args...))
		wrong.Path = path
		return wrong.Detail("fields", json.RawMessage(f)).
			Suggest("Answer with a JSON object that has the values of the fields: %s. Or answer: no, cancel", strings.Join(f.fields(), ", "))
	}
	if v := gjson.Parse(content); !json.Valid([]byte(content)) || !v.IsObject() {
		return refuse("", "%q is not a JSON object", fault.Truncate(content, 100))
	}
	if violation := f.schema().Check(json.RawMessage(content)); violation != nil {
		return refuse(violation.Path, "%s", violation.Error())
	}
	return nil
}

// schema returns the form's schema, which allows only its own fields. It is nil if the schema cannot be used.
func (f Form) schema() *jsonschema.Schema {
	var document map[string]json.RawMessage
	if json.Unmarshal(f, &document) != nil {
		return nil
	}
	if document["additionalProperties"] == nil {
		document["additionalProperties"] = json.RawMessage("false")
	}
	closed, err := rawjson.Marshal(document)
	if err != nil {
		return nil
	}
	return jsonschema.CompileForeign(closed)
}

// fields returns the fields with their types, in their order, such as "size (integer, optional)".
func (f Form) fields() (list []string) {
	required := f.required()
	gjson.GetBytes(f, "properties").ForEach(func(name, field gjson.Result) bool {
		kind := field.Get("type").String()
		if !slices.Contains(required, name.Str) {
			kind = strings.TrimPrefix(kind+", optional", ", ")
		}
		if kind != "" {
			kind = " (" + kind + ")"
		}
		list = append(list, name.Str+kind)
		return true
	})
	return list
}

// required returns the names of the fields that must have a value.
func (f Form) required() (names []string) {
	for _, name := range gjson.GetBytes(f, "required").Array() {
		names = append(names, name.Str)
	}
	return names
}

// Example returns an object that has the fields of the form, with values of their types.
func (f Form) Example() string {
	var members []string
	gjson.GetBytes(f, "properties").ForEach(func(name, field gjson.Result) bool {
		members = append(members, fmt.Sprintf("%s: %s", rawjson.Quote(name.Str), exampleOf(field)))
		return true
	})
	return "{" + strings.Join(members, ", ") + "}"
}

// exampleOf returns a value of a field: its default, its first choice, or one of its type.
func exampleOf(field gjson.Result) string {
	for _, path := range []string{"default", "enum.0", "oneOf.0.const", "anyOf.0.const", "minimum"} {
		if v := field.Get(path); v.Exists() {
			return v.Raw
		}
	}
	switch field.Get("type").Str {
	case "integer", "number":
		return "1"
	case "boolean":
		return "true"
	case "array":
		return "[" + exampleOf(field.Get("items")) + "]"
	default:
		return `"TEXT"`
	}
}
