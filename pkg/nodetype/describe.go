package nodetype

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// describe returns the Type for the structs of its parameters and outputs. So what is documented, checked and decoded is always
// the same. The json tag of a field is the name of the parameter. The other tags are
//
//	help:"…"       its description
//	required:""    it must be given
//	default:"…"    its default, as JSON
//	enum:"…"       a JSON list of the values that it may have
//	depends_on:"" what a node with it depends on, see Param.DependsOn
//	input:""       if it is not given, the workflow's input of the same name is used
func describe(name, help string, params, outputs any) Type {
	t := Type{Name: name, Description: help, Actions: []string{"default", "error"}}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(params)) {
		_, required := f.Tag.Lookup("required")
		p := Param{Name: jsonName(f), Type: typeName(f.Type), Description: f.Tag.Get("help"), Required: required}
		if d, ok := f.Tag.Lookup("default"); ok {
			p.Default = json.RawMessage(d)
		}
		if e, ok := f.Tag.Lookup("enum"); ok {
			p.Enum = json.RawMessage(e)
		}
		_, p.Input = f.Tag.Lookup("input")
		p.DependsOn = f.Tag.Get("depends_on")
		t.Params = append(t.Params, p)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(outputs)) {
		t.Outputs = append(t.Outputs, Output{Name: jsonName(f), Type: typeName(f.Type), Description: f.Tag.Get("help")})
	}
	return t
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// typeName returns the registry's name for a Go type.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Seconds]():
		return DurationType
	case reflect.TypeFor[json.RawMessage]():
		return "any"
	case reflect.TypeFor[Binary]():
		return "str"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int64:
		return "int"
	case reflect.Float64:
		return "float"
	case reflect.String:
		return "str"
	case reflect.Slice:
		return "list"
	case reflect.Map, reflect.Struct:
		return "dict"
	default:
		return "any"
	}
}

// Seconds is a duration in seconds, possibly with a fraction, as workflows write it.
type Seconds float64

// Duration returns the duration, at most about 31 years.
func (s Seconds) Duration() time.Duration {
	return time.Duration(min(float64(s), 1e9) * float64(time.Second))
}

// NoTime is the message for a timeout that is not positive.
const NoTime = "timeout must be more than 0 seconds"

// Binary is an output that is text or bytes, as a value of the event stream: a JSON string, or an object with base64.
type Binary json.RawMessage

// MarshalJSON returns the value unchanged.
func (b Binary) MarshalJSON() ([]byte, error) { return b, nil }

// Texts is an object whose values are text. Other values become the text of their JSON, and null is left out.
type Texts map[string]string

// UnmarshalJSON reads a JSON object.
func (t *Texts) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*t = make(Texts, len(raw))
	for k, v := range raw {
		switch v[0] {
		case '"':
			var s string
			if err := json.Unmarshal(v, &s); err != nil {
				return err
			}
			(*t)[k] = s
		case 'n':
		default:
			(*t)[k] = string(v)
		}
	}
	return nil
}
