package veloflux

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/toolargs"
	"github.com/pflow-suite/pflow/pkg/rawjson"
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

	dotted  string            // the name as the table has it
	narrow  string            // what to ask for when the answer is too large
	spell   *strings.Replacer // of tools' names in texts, nil when they have dots
	checker *toolargs.Checker
	call    func(ctx context.Context, r *Runtime, args fields) (json.RawMessage, error)
	// brief puts a large answer into a shorter text.
	brief func(answer json.RawMessage) string
}

// largeAnswer is from how many bytes on an answer is not worth to be said twice.
const largeAnswer = 8 << 10

// Summary is what stands in the place of a large answer where it would stand a second time, as text beside the structured
// content of MCP: what a model can go on with. It is empty for an answer that is short.
func (t *Tool) Summary(answer json.RawMessage) string {
	if len(answer) <= largeAnswer {
		return ""
	}
	text := ""
	if t.brief != nil {
		text = t.brief(answer)
	}
	if text == "" || len(text) > len(answer)/2 {
		text = fault.Truncate(string(answer), largeAnswer/4)
	}
	return text + fmt.Sprintf("\n(The whole answer, %d bytes, is the structured content.)", len(answer))
}

// named is the tool with what goes by its name. All that it says of other tools has their names in the same way.
func (t Tool) named(spell *strings.Replacer) Tool {
	if t.Name != t.dotted {
		t.Description, t.narrow, t.spell = spell.Replace(t.Description), spell.Replace(t.narrow), spell
		t.InputSchema = json.RawMessage(spell.Replace(string(t.InputSchema)))
	}
	t.checker = toolargs.NewChecker(t.Name, t.InputSchema)
	return t
}

// advised is an error whose advice names tools as this one is named.
func (t *Tool) advised(err error) error {
	if t.spell == nil || !strings.HasSuffix(AsError(err).Message, recordLeft) {
		return err
	}
	e := *AsError(err)
	e.Message = strings.TrimSuffix(e.Message, recordLeft) + t.spell.Replace(recordLeft)
	return &e
}

// fields are the arguments of a call, each in the caller's bytes; none is null.
type fields map[string]json.RawMessage

// text is an argument that is a string, or "".
func (f fields) text(name string) string { return gjson.ParseBytes(f[name]).String() }

// check gives the arguments when they fit the tool's input schema.
func (t *Tool) check(args json.RawMessage) (fields, error) {
	args = bytes.TrimSpace(args)
	if err := checkText(args); err != nil {
		return nil, err
	}
	given := fields{}
	if len(args) > 0 && args[0] == '{' && json.Unmarshal(args, &given) == nil {
		nulls := len(given)
		for name, value := range given {
			if rawjson.Kind(value) == "null" { // clients say so of an argument that they do not give
				delete(given, name)
			}
		}
		if len(given) < nulls {
			raw, err := rawjson.Marshal(given)
			if err != nil {
				return nil, err
			}
			args = raw
		}
	}
	if _, f := t.checker.Check(args); f != nil {
		return nil, fromFault(f)
	}
	return given, nil
}

// appendTo adds those of the named arguments that are given to a JSON object that is being written.
func (f fields) appendTo(body []byte, names ...string) []byte {
	for _, name := range names {
		if value, ok := f[name]; ok {
			body = slices.Concat(body, []byte(`,"`+name+`":`), value)
		}
	}
	return body
}

// under is a JSON object with one field.
func under(name string, value json.RawMessage) json.RawMessage {
	return slices.Concat([]byte(`{"`+name+`":`), value, []byte("}"))
}

// input is the schema of a tool's arguments.
func input(properties string, required ...string) json.RawMessage {
	if required == nil {
		required = []string{}
	}
	names, _ := json.Marshal(required)
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":` + string(names) + `,"additionalProperties":false}`)
}

// output is the schema of an answer with these fields, all of which are there, or of an error in its place: clients hold
// what fails to the schema too.
func output(properties string, required ...string) json.RawMessage {
	names, _ := json.Marshal(required)
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"anyOf":[{"required":` + string(names) + `},` +
		`{"properties":{"error_code":{"type":"string"},"error_message":{"type":"string"},"details":{"type":"object"}},"required":["error_code","error_message"]}]}`)
}

// asked is the call of a tool that asks for one thing and gives it under a name.
func asked(name string, fetch func(m *Manager, ctx context.Context, args fields) (json.RawMessage, error)) func(context.Context, *Runtime, fields) (json.RawMessage, error) {
	return func(ctx context.Context, r *Runtime, args fields) (json.RawMessage, error) {
		body, err := fetch(r.manager, ctx, args)
		if err != nil {
			return nil, err
		}
		return under(name, bytes.TrimSpace(body)), nil
	}
}
