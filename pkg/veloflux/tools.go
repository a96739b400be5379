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

// Tool is a tool that a Runtime offers.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	// ReadOnly, Destructive and Idempotent say what a call does to the Manager's state.
	ReadOnly    bool `json:"read_only"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`

	dotted     string            // the name with a dot
	ifTooLarge string            // what to do if the answer is too large
	renamer    *strings.Replacer // rewrites tools' names in texts; nil if the name has a dot
	checker    *toolargs.Checker
	call       func(ctx context.Context, r *Runtime, args arguments) (json.RawMessage, error)
	// brief returns a shorter text for a large answer, or "". It may be nil.
	brief func(answer json.RawMessage) string
}

// largeAnswer is the most bytes of an answer that is worth sending twice.
const largeAnswer = 8 << 10

// Summary returns a shorter text that stands for a large answer where MCP wants text beside the structured content. A
// model can work with it. It returns "" for a short answer.
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

// named returns the tool with its checker, and with the names of tools in its texts in the style of its own name.
func (t Tool) named(spell *strings.Replacer) Tool {
	if t.Name != t.dotted {
		t.Description, t.ifTooLarge, t.renamer = spell.Replace(t.Description), spell.Replace(t.ifTooLarge), spell
		t.InputSchema = json.RawMessage(spell.Replace(string(t.InputSchema)))
	}
	t.checker = toolargs.NewChecker(t.Name, t.InputSchema)
	return t
}

// renameAdvice returns an error whose advice names tools in the style of this tool's name.
func (t *Tool) renameAdvice(err error) error {
	if t.renamer == nil || !strings.HasSuffix(AsError(err).Message, recordLeftAdvice) {
		return err
	}
	e := *AsError(err)
	e.Message = strings.TrimSuffix(e.Message, recordLeftAdvice) + t.renamer.Replace(recordLeftAdvice)
	return &e
}

// arguments are the arguments of a call, each in the caller's bytes. An argument that is null is left out.
type arguments map[string]json.RawMessage

// text returns an argument that is a string, or "".
func (f arguments) text(name string) string { return gjson.ParseBytes(f[name]).String() }

// check parses the arguments of a call. It returns an error if they do not fit the tool's input schema.
func (t *Tool) check(args json.RawMessage) (arguments, error) {
	args = bytes.TrimSpace(args)
	if err := checkText(args); err != nil {
		return nil, err
	}
	given := arguments{}
	if len(args) > 0 && args[0] == '{' && json.Unmarshal(args, &given) == nil {
		nulls := len(given)
		for name, value := range given {
			if rawjson.Kind(value) == "null" { // some clients send null for an argument that is not given
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

// appendTo appends the given ones of the named arguments to a JSON object that has a member and is not closed yet.
func (f arguments) appendTo(body []byte, names ...string) []byte {
	for _, name := range names {
		if value, ok := f[name]; ok {
			body = slices.Concat(body, []byte(`,"`+name+`":`), value)
		}
	}
	return body
}

// objectWith returns a JSON object with one member.
func objectWith(name string, value json.RawMessage) json.RawMessage {
	return slices.Concat([]byte(`{"`+name+`":`), value, []byte("}"))
}

// inputSchema returns the schema of a tool's arguments.
func inputSchema(properties string, required ...string) json.RawMessage {
	if required == nil {
		required = []string{}
	}
	names, _ := rawjson.Marshal(required)
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":` + string(names) + `,"additionalProperties":false}`)
}

// outputSchema returns the schema of an answer with the given properties, or of an error in its place: clients check errors
// against the schema too.
func outputSchema(properties string, required ...string) json.RawMessage {
	names, _ := rawjson.Marshal(required)
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"anyOf":[{"required":` + string(names) + `},` +
		`{"properties":{"error_code":{"type":"string"},"error_message":{"type":"string"},"details":{"type":"object"}},"required":["error_code","error_message"]}]}`)
}

// fetchCall returns the call of a tool that fetches one document and returns it as a member with the given name.
func fetchCall(name string, fetch func(m *Manager, ctx context.Context, args arguments) (json.RawMessage, error)) func(context.Context, *Runtime, arguments) (json.RawMessage, error) {
	return func(ctx context.Context, r *Runtime, args arguments) (json.RawMessage, error) {
		body, err := fetch(r.manager, ctx, args)
		if err != nil {
			return nil, err
		}
		return objectWith(name, bytes.TrimSpace(body)), nil
	}
}
