package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// inputTypes maps each accepted word for a type to the type.
var inputTypes = map[string]string{
	"": "any", "any": "any", "string": "string", "str": "string", "number": "number", "float": "number",
	"integer": "integer", "int": "integer", "boolean": "boolean", "bool": "boolean",
	"object": "object", "dict": "object", "array": "array", "list": "array",
}

// InputTypes lists the types of inputs.
func InputTypes() []string {
	return []string{"string", "number", "integer", "boolean", "object", "array", "any"}
}

// Given is the value of an input as it was passed to a run: a JSON value, or text that is converted to the declared type.
type Given struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Text string          `json:"text,omitempty"`
}

// IsText reports whether the value is text.
func (g Given) IsText() bool { return g.JSON == nil }

func (g Given) isNull() bool { return string(bytes.TrimSpace(g.JSON)) == "null" }

// Supply looks up the values of inputs that were not passed to a run: first in the environment, then in the secret and in
// the plain values of the settings. Each function may be nil.
type Supply struct {
	Environment func(name string) (string, bool)
	Settings    func(name string) (string, bool)
	Vars        func(name string) (string, bool)
}

// Value is an input's value with its origin: given, environment, settings, vars, default, or unset for an optional input without a
// value, which is null.
type Value struct {
	JSON   json.RawMessage
	Origin string
}

// Resolve returns the value of every declared input: the given value, or that of the environment, of the settings, its
// default, or null if it is optional. The error holds all faults at once: missing inputs, values of the wrong type, names
// that are not declared. It is a template_error if inputs are missing and nothing else is wrong, otherwise a
// validation_error. Its Missing lists the missing inputs.
func (w *Workflow) Resolve(given map[string]Given, from Supply) (map[string]Value, error) {
	var faults []*fault.Fault
	values := make(map[string]Value, len(w.Inputs))
	names := slices.Sorted(maps.Keys(w.Inputs))
	for _, name := range names {
		in := w.Inputs[name]
		g, origin := lookup(name, given, from)
		if g.isNull() && in.IsRequired() {
			origin = "" // only an optional input can be null
		}
		switch {
		case origin != "":
			v, f := coerce(name, in, g, origin)
			if f != nil {
				faults = append(faults, f)
				continue
			}
			values[name] = Value{v, origin}
		case in.Default != nil:
			v, f := coerce(name, in, Given{JSON: in.Default}, "default")
			if f != nil {
				faults = append(faults, f)
				continue
			}
			values[name] = Value{v, "default"}
		case in.IsRequired():
			f := fault.New(fault.Template, "Template ${%s} not resolved: the workflow requires input %q%s", name, name, describeInput(in))
			f.Path, f.Missing = rawjson.JoinPath("inputs", name), []string{name}
			if g.isNull() {
				f.Message += "; its value cannot be null"
			}
			step := fault.Step{Do: fault.DoInput, Name: name}
			if in.Type == "array" || in.Type == "object" {
				step.Do = fault.DoInputJSON
			}
			faults = append(faults, f.Then(step))
		default:
			values[name] = Value{json.RawMessage("null"), "unset"}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := w.Inputs[name]; ok {
			continue
		}
		f := fault.New(fault.Validation, "The workflow has no input %q", name)
		if near, ok := fault.Nearest(name, names); ok {
			f.Suggest("Did you mean %q?", near)
		}
		faults = append(faults, f.Offer(name, names))
	}
	if f := fault.Join(fault.Validation, "The run's inputs", faults); f != nil {
		return nil, f
	}
	return values, nil
}

func lookup(name string, given map[string]Given, from Supply) (Given, string) {
	if g, ok := given[name]; ok {
		return g, "given"
	}
	if from.Environment != nil {
		if s, ok := from.Environment(name); ok {
			return Given{Text: s}, "environment"
		}
	}
	if from.Settings != nil {
		if s, ok := from.Settings(name); ok {
			return Given{Text: s}, "settings"
		}
	}
	if from.Vars != nil {
		if s, ok := from.Vars(name); ok {
			return Given{Text: s}, "vars"
		}
	}
	return Given{}, ""
}

func describeInput(in Input) string {
	if in.Description == "" {
		return ""
	}
	return ": " + in.Description
}

// coerce converts a value to the declared type of its input, or returns a fault that names the value's origin. Numbers keep
// their spelling.
func coerce(name string, in Input, g Given, origin string) (json.RawMessage, *fault.Fault) {
	typ := inputTypes[in.Type]
	if v, ok := convert(typ, g); ok {
		if path, key, twice := rawjson.DuplicateKey(v); twice {
			return nil, duplicate(name, in, rawjson.AppendPath(rawjson.JoinPath("inputs", name), rawjson.JoinPath(path, key)), key)
		}
		return v, nil
	}
	text := g.Text
	if !g.IsText() {
		text = string(g.JSON)
	}
	shown, hint := "the value", hint(typ, text)
	switch {
	case in.Secret:
		hint = usual(typ)
	case text == "":
		shown = "empty text"
	case !utf8.ValidString(text):
		shown, hint = "bytes that are not UTF-8", "Pass binary data as base64"
	default:
		shown = fault.Truncate(text, 60)
	}
	switch origin {
	case "vars":
		shown += " from the settings"
	case "environment", "settings":
		shown += " from the " + origin
	case "default":
		shown = "its default " + shown
	}
	f := fault.New(fault.Validation, "Input %q must be of type %s, and %s is not", name, typ, shown)
	f.Path = rawjson.JoinPath("inputs", name)
	return nil, f.Suggest("%s", hint)
}

// duplicate returns the fault of a value in which an object has a key twice.
func duplicate(name string, in Input, path, key string) *fault.Fault {
	f := fault.New(fault.Validation, "Input %q has the key %q twice in one object", name, fault.Truncate(key, 60))
	if f.Path = path; in.Secret {
		f.Message, f.Path = fmt.Sprintf("Input %q has a key twice in one object", name), rawjson.JoinPath("inputs", name)
	}
	return f.Suggest("Keep one of them: programs differ in which they read")
}

// usual says how to write a value of a type.
func usual(typ string) string {
	switch typ {
	case "number":
		return "Write a number, such as 1.5"
	case "integer":
		return "Write a whole number, such as 15"
	case "boolean":
		return "Write true or false; yes, no, 1 and 0 are accepted too"
	case "object":
		return `Write a JSON object, such as {"key": "value"}`
	case "array":
		return `Write a JSON list, such as ["a", "b"]`
	}
	return "Write UTF-8 text"
}

// hint says how to write what was probably meant.
func hint(typ, text string) string {
	text = strings.TrimSpace(text)
	switch typ {
	case "array":
		if len(text) > 60 || !strings.Contains(text, ",") || strings.ContainsAny(text, `[]{}"`) {
			break
		}
		items := strings.Split(text, ",")
		for i, item := range items {
			if items[i] = strings.TrimSpace(item); !isNumber(items[i]) {
				items[i] = string(rawjson.Quote(items[i]))
			}
		}
		return "Write a JSON list: [" + strings.Join(items, ", ") + "]"
	case "number", "integer":
		if h := numberHint(text); h != "" && text == word(text) {
			return h
		}
	}
	return usual(typ)
}

// Accepts returns an error if a JSON value cannot be converted to the input's type.
func (i Input) Accepts(name string, value json.RawMessage) error {
	if _, f := coerce(name, i, Given{JSON: value}, ""); f != nil {
		return f
	}
	return nil
}

// convert converts a value to a type; the result is false if it cannot be converted.
func convert(typ string, g Given) (json.RawMessage, bool) {
	text := g.Text
	if !g.IsText() {
		raw := json.RawMessage(bytes.TrimSpace(g.JSON))
		if len(raw) == 0 || !utf8.Valid(raw) {
			return nil, false
		}
		switch {
		case string(raw) == "null":
			return raw, true
		case typ == "any", typ == "string" && raw[0] == '"',
			typ == "object" && raw[0] == '{', typ == "array" && raw[0] == '[':
			return raw, true
		case typ == "string":
			return rawjson.Quote(string(rawjson.Compact(raw))), true
		case raw[0] != '"':
			text = string(raw)
		case json.Unmarshal(raw, &text) != nil:
			return nil, false
		}
	}
	if !utf8.ValidString(text) {
		return nil, false
	}
	trimmed := strings.TrimSpace(text)
	switch typ {
	case "string":
		return rawjson.Quote(text), true
	case "any":
		return guess(text), true
	case "number", "integer":
		if !isNumber(trimmed) || typ == "integer" && !isInteger(trimmed) {
			return nil, false
		}
		return json.RawMessage(trimmed), true
	case "boolean":
		switch strings.ToLower(trimmed) {
		case "true", "yes", "1":
			return json.RawMessage("true"), true
		case "false", "no", "0":
			return json.RawMessage("false"), true
		}
		return nil, false
	case "object", "array":
		open := map[string]string{"object": "{", "array": "["}[typ]
		if !strings.HasPrefix(trimmed, open) || !json.Valid([]byte(trimmed)) {
			return nil, false
		}
		return json.RawMessage(trimmed), true
	}
	return nil, false
}

// guess converts text for an input of any type: booleans, numbers, objects and lists have their type, the rest is text.
func guess(text string) json.RawMessage {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		return rawjson.Quote(text)
	case strings.EqualFold(trimmed, "true"), strings.EqualFold(trimmed, "false"):
		return json.RawMessage(strings.ToLower(trimmed))
	case isNumber(trimmed), strings.ContainsRune("{[", rune(trimmed[0])) && json.Valid([]byte(trimmed)):
		return json.RawMessage(trimmed)
	}
	return rawjson.Quote(text)
}

func isNumber(s string) bool {
	return s != "" && len(s) <= maxNumber && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

// isInteger reports whether a number of any size is whole, as 7, 7.0 and 7e0 are. A number with a huge exponent is not, so
// that it is never expanded.
func isInteger(s string) bool {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if n, err := strconv.Atoi(s[i+1:]); err != nil || n > 400 || n < -400 {
			return false
		}
	}
	r, ok := new(big.Rat).SetString(s)
	return ok && r.IsInt()
}
