package nodetype

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// valueTypes are the types that a parameter or an output may have.
var valueTypes = []string{"str", "int", "float", "bool", "list", "dict", "any"}

// Described returns the node type that a program prints for --describe, as an entry of the registry; only the interface of the
// entry is used. The error is a validation_error with all faults of the answer at once. If the program does not declare them,
// the type gets the output "error", which the runner sets if the program fails, and the actions default and error.
func Described(name, program string, answer []byte) (Type, error) {
	t := Type{Name: name}
	var form struct {
		Interface json.RawMessage `json:"interface"`
	}
	answer = bytes.TrimSpace(answer)
	if len(answer) == 0 {
		return t, fault.New(fault.Validation, "It printed nothing for --describe").Suggest(formSuggestion)
	}
	if err := json.Unmarshal(answer, &form); err != nil {
		return t, fault.New(fault.Validation, "Its answer to --describe is not one JSON object: %s", excerpt(answer)).Suggest(formSuggestion)
	}
	if rawjson.Kind(form.Interface) != "an object" {
		return t, fault.New(fault.Validation, `Its answer to --describe has no object "interface": %s`, excerpt(answer)).Suggest(formSuggestion)
	}
	d := &description{}
	e := d.read(form.Interface)
	entry, err := rawjson.Marshal(map[string]any{"interface": e})
	if err == nil {
		err = t.UnmarshalJSON(entry)
	}
	if err != nil {
		return t, fault.From(err)
	}
	d.check(&t)
	if f := fault.Join(fault.Validation, "Its answer to --describe", d.faults); f != nil {
		return t, f
	}
	t.Program = program
	if _, ok := t.Output("error"); !ok && len(t.Outputs) > 0 {
		t.Outputs = append(t.Outputs, Output{Name: "error", Type: "str", Description: "why the node failed; absent if it did not"})
	}
	for _, action := range []string{"default", "error"} {
		if !slices.Contains(t.Actions, action) {
			t.Actions = append(t.Actions, action)
		}
	}
	return t, nil
}

const formSuggestion = `It must print {"interface":{"description":TEXT,"params":[{"name":TEXT,"type":"str","description":TEXT,"required":true}],"outputs":[{"name":TEXT,"type":"any","description":TEXT}],"actions":["default"]}}`

func excerpt(text []byte) string {
	return fault.Truncate(strings.ToValidUTF8(string(text[:min(len(text), 81)]), "\uFFFD"), 80)
}

// description collects the faults of an interface.
type description struct{ faults []*fault.Fault }

func (d *description) fail(path, format string, args ...any) {
	d.add(path, fault.New(fault.Validation, format, args...))
}

func (d *description) add(path string, f *fault.Fault) {
	f.Path = path
	d.faults = append(d.faults, f)
}

// read decodes an interface field by field, so that each fault has its place.
func (d *description) read(raw json.RawMessage) entryInterface {
	var e entryInterface
	const at = "interface"
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields)
	d.field(fields, at, "description", "text", &e.Description)
	d.field(fields, at, "open", "true or false", &e.Open)
	d.field(fields, at, "actions", "a list of text", &e.Actions)
	d.field(fields, at, "depends_on", "text", &e.DependsOn)
	e.Params, e.Outputs = d.items(fields, "params"), d.items(fields, "outputs")
	return e
}

// field decodes a field, which may be missing.
func (d *description) field(fields map[string]json.RawMessage, at, name, form string, to any) {
	if raw, ok := fields[name]; ok && json.Unmarshal(raw, to) != nil {
		d.fail(rawjson.JoinPath(at, name), "%q must be %s, not %s", name, form, rawjson.Kind(raw))
	}
}

func (d *description) items(fields map[string]json.RawMessage, name string) []entryItem {
	var raws []map[string]json.RawMessage
	at := "interface." + name
	d.field(fields, "interface", name, "a list of objects", &raws)
	items := make([]entryItem, len(raws))
	for i, raw := range raws {
		at := fmt.Sprintf("%s[%d]", at, i)
		item := &items[i]
		d.field(raw, at, "name", "text", &item.Name)
		d.field(raw, at, "key", "text", &item.Key)
		d.field(raw, at, "type", "text", &item.Type)
		d.field(raw, at, "description", "text", &item.Description)
		d.field(raw, at, "required", "true or false", &item.Required)
		d.field(raw, at, "depends_on", "text", &item.DependsOn)
		if v := raw["default"]; rawjson.Kind(v) != "null" {
			item.Default = v
		}
		if v := raw["enum"]; rawjson.Kind(v) != "null" {
			item.Enum = v
		}
	}
	return items
}

// check adds the faults in the values of an interface whose form is right.
func (d *description) check(t *Type) {
	if t.Description == "" && len(d.faults) == 0 {
		d.add("interface.description", fault.New(fault.Validation, "There is no description").
			Suggest("Describe in a sentence what it does: a search finds it by that"))
	}
	d.dependsOn("interface", t.DependsOn)
	seen := map[string]bool{}
	for i, p := range t.Params {
		at := fmt.Sprintf("interface.params[%d]", i)
		d.dependsOn(at, p.DependsOn)
		if d.named(at, "parameter", p.Name, p.Type, seen) {
			d.values(at, &p)
		}
		if strings.HasPrefix(p.Name, "__") {
			d.fail(at+".name", "The name of parameter %q begins with __, which is reserved for the runner", p.Name)
		}
	}
	seen = map[string]bool{}
	for i, o := range t.Outputs {
		d.named(fmt.Sprintf("interface.outputs[%d]", i), "output", o.Name, o.Type, seen)
	}
	for i, action := range t.Actions {
		if action == "" {
			d.fail(fmt.Sprintf("interface.actions[%d]", i), "An action has no name")
		}
	}
}

// dependsOn checks what a type, or a parameter of one, says that the outputs depend on.
func (d *description) dependsOn(at, on string) {
	if on != "" && on != OnValues && on != OnWorld {
		f := fault.New(fault.Validation, "depends_on must be %s or %s, not %q", OnValues, OnWorld, on)
		d.add(at+".depends_on", f.Suggest("%s if the outputs depend on the parameters alone", OnValues))
	}
}

// named checks a name and a type. It reports whether the type exists.
func (d *description) named(at, what, name, typ string, seen map[string]bool) bool {
	switch {
	case name == "":
		d.fail(at, "A %s has no name", what)
	case !plainName(name):
		d.fail(at+".name", "The name of %s %q must have only letters, digits, _ and -, and begin with a letter or _", what, name)
	case seen[name]:
		d.fail(at+".name", "There are two %ss with the name %q", what, name)
	}
	seen[name] = true
	if slices.Contains(valueTypes, typ) {
		return true
	}
	f := fault.New(fault.Validation, "The type of %s %q is %q, which does not exist", what, name, typ)
	if typ == "" {
		f.Message = fmt.Sprintf("The %s %q has no type", what, name)
	}
	if near := ourWord(typ); near != "" {
		f.Suggest("Did you mean %q?", near)
	}
	f.Available = valueTypes
	d.add(at+".type", f)
	return false
}

// ourWord returns the type that JSON Schema and others call typ, or "".
func ourWord(typ string) string {
	switch strings.ToLower(typ) {
	case "string", "text":
		return "str"
	case "integer":
		return "int"
	case "number", "double":
		return "float"
	case "boolean":
		return "bool"
	case "array":
		return "list"
	case "object", "map":
		return "dict"
	}
	return ""
}

// values checks the default and the enum of a parameter.
func (d *description) values(at string, p *Param) {
	if p.Default != nil {
		fitted, ok := Fit(p.Type, p.Default)
		switch {
		case !ok:
			d.fail(at+".default", "The default of parameter %q is %s, which does not fit its type %s", p.Name, excerpt(p.Default), p.Type)
		case !p.Allows(fitted):
			d.fail(at+".default", "The default of parameter %q is %s, which is not in its enum", p.Name, excerpt(p.Default))
		}
	}
	if p.Enum == nil {
		return
	}
	var allowed []json.RawMessage
	if json.Unmarshal(p.Enum, &allowed) != nil || len(allowed) == 0 {
		d.fail(at+".enum", "The enum of parameter %q must be a list of values, not %s", p.Name, excerpt(p.Enum))
	}
	for _, v := range allowed {
		if fitted, ok := Fit(p.Type, v); !ok || string(fitted) != string(rawjson.Compact(v)) {
			d.fail(at+".enum", "The enum of parameter %q has %s, which does not fit its type %s", p.Name, excerpt(v), p.Type)
		}
	}
}

// plainName reports whether a template can refer to a name without quotes.
func plainName(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return name != ""
}
