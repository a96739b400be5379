package nodetype

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// describe makes a Type from the Go types of its parameters and outputs, so that what is documented, checked and
// decoded cannot drift apart. A parameter's field carries its name in the json tag, and in further tags
//
//	help:"…"       what it is for
//	required:""    it must be given
//	default:"…"    the JSON value that stands when it is not
//	enum:"…"       a JSON list of the only values it may have
//	input:""       the workflow's input of its name stands for it when it is not given
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

// typeName is the registry's word for a Go type.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Seconds]():
		return "float"
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

// Seconds is a duration as workflows write it, in seconds, with a fraction where one is needed.
type Seconds float64

// Duration is the same as Go counts it, which is 31 years at most.
func (s Seconds) Duration() time.Duration {
	return time.Duration(min(float64(s), 1e9) * float64(time.Second))
}

// NoTime is what a node says of a timeout that gives it none.
const NoTime = "timeout must be more than 0 seconds"

// Binary is an output that may be text or bytes, as a value of the event stream: a JSON string, or base64 marked as such.
type Binary json.RawMessage

// MarshalJSON writes the value as it is.
func (b Binary) MarshalJSON() ([]byte, error) { return b, nil }

// Texts is an object whose values are text; numbers, true and false are taken as they are spelled, null as nothing.
type Texts map[string]string

// UnmarshalJSON reads an object of scalars.
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
