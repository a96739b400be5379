package workflow

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// inputTypes maps every word that may be written to the word that is meant.
var inputTypes = map[string]string{
	"": "any", "any": "any", "string": "string", "str": "string", "number": "number", "float": "number",
	"integer": "integer", "int": "integer", "boolean": "boolean", "bool": "boolean",
	"object": "object", "dict": "object", "array": "array", "list": "array",
}

// InputTypes lists the types an input may declare.
func InputTypes() []string {
	return []string{"string", "number", "integer", "boolean", "object", "array", "any"}
}

// Given is a value as a run is given it: a JSON value, or text that takes the declared type.
type Given struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Text string          `json:"text,omitempty"`
}

// IsText says whether the value is text to be coerced.
func (g Given) IsText() bool { return g.JSON == nil }

func (g Given) isNull() bool { return string(bytes.TrimSpace(g.JSON)) == "null" }

// Supply says where values come from besides what is given: a lookup by name for each origin, asked in this order.
type Supply struct {
	Environment func(name string) (string, bool)
	Settings    func(name string) (string, bool)
}

// Value is an input's value with where it came from: given, environment, settings, default, or unset for the null of
// an optional input.
type Value struct {
	JSON   json.RawMessage
	Origin string
}

// Resolve gives every declared input its value: given, else from the environment, else from the settings, else its
// default, else null when it is optional. The error counts everything wrong at once: missing inputs, values of the wrong
// type, names that are not declared. It is a template_error when inputs are missing and nothing else is wrong, else a
// validation_error; its Missing names what was not given.
func (w *Workflow) Resolve(given map[string]Given, from Supply) (map[string]Value, error) {
	var faults []*fault.Fault
	values := make(map[string]Value, len(w.Inputs))
	names := slices.Sorted(maps.Keys(w.Inputs))
	for _, name := range names {
		in := w.Inputs[name]
		g, origin := lookup(name, given, from)
		if g.isNull() && in.IsRequired() {
			origin = "" // null is the value of an optional input that is not given
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
				f.Message += "; null is no value of it"
			}
			faults = append(faults, f.Suggest("Give it as %s=VALUE", name))
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
		f.Available = names
		faults = append(faults, f)
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
	return Given{}, ""
}

func describeInput(in Input) string {
	if in.Description == "" {
		return ""
	}
	return ": " + in.Description
}

// coerce makes a value of the declared type, or says that it cannot be one and where it came from. Numbers keep their
// spelling.
func coerce(name string, in Input, g Given, origin string) (json.RawMessage, *fault.Fault) {
	typ := inputTypes[in.Type]
	if v, ok := convert(typ, g); ok {
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
		shown, hint = "bytes that are not UTF-8", "Give binary data as base64"
	default:
		shown = fault.Truncate(text, 60)
	}
	switch origin {
	case "environment", "settings":
		shown += " from the " + origin
	case "default":
		shown = "its default " + shown
	}
	f := fault.New(fault.Validation, "Input %q must be of type %s, and %s is not", name, typ, shown)
	f.Path = rawjson.JoinPath("inputs", name)
	return nil, f.Suggest("%s", hint)
}

// usual is how a value of a type is written.
func usual(typ string) string {
	switch typ {
	case "number":
		return "Write a number, such as 1.5"
	case "integer":
		return "Write a whole number, such as 15"
	case "boolean":
		return "Write true or false; yes, no, 1 and 0 will do too"
	case "object":
		return `Write a JSON object, such as {"key": "value"}`
	case "array":
		return `Write a JSON list, such as ["a", "b"]`
	}
	return "Write UTF-8 text"
}

// hint is how to write what was probably meant.
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

// Accepts says whether a JSON value can be one of the input's type.
func (i Input) Accepts(name string, value json.RawMessage) error {
	if _, f := coerce(name, i, Given{JSON: value}, ""); f != nil {
		return f
	}
	return nil
}

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

// guess reads text for an input of any type: true, false, a number, an object or a list are that, all else is text.
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

// isInteger takes 7 and also 7.0 and 7e0, whatever the size. A huge exponent is refused before it is worked out.
func isInteger(s string) bool {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if n, err := strconv.Atoi(s[i+1:]); err != nil || n > 400 || n < -400 {
			return false
		}
	}
	r, ok := new(big.Rat).SetString(s)
	return ok && r.IsInt()
}
