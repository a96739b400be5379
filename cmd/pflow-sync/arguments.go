package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcpclient"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// arguments are a tool's arguments as they were given: a whole object, or values by key.
type arguments struct {
	whole  json.RawMessage
	keys   []string
	values map[string]value
}

// value is JSON, or text that takes the type asked for.
type value struct {
	json json.RawMessage
	text string
}

// readArguments reads KEY=VALUE, KEY:=JSON, KEY=@FILE and - off a command line.
func readArguments(app *cli.App, args []string) (arguments, error) {
	given := arguments{values: map[string]value{}}
	if slices.Contains(args, "-") {
		if len(args) > 1 {
			return given, fault.New(fault.Usage, "- reads all arguments from standard input; nothing can stand beside it")
		}
		data, err := app.ReadArgument("-")
		if err != nil {
			return given, err
		}
		given.whole = bytes.TrimSpace(data)
		if !json.Valid(given.whole) || !gjson.ParseBytes(given.whole).IsObject() {
			return given, fault.New(fault.Usage, "Standard input is not one JSON object")
		}
		return given, nil
	}
	assignments, err := app.Assignments(args)
	if err != nil {
		return given, err
	}
	for _, a := range assignments {
		given.keys = append(given.keys, a.Key)
		given.values[a.Key] = value{json: a.JSON, text: a.Text}
	}
	return given, nil
}

// object makes the tool's arguments. All that does not fit the tool's input schema is one validation_error.
func (g arguments) object(tool mcpclient.Tool) (json.RawMessage, error) {
	schema := gjson.ParseBytes(tool.InputSchema)
	keys := g.keys
	if g.whole != nil {
		keys = nil
		gjson.ParseBytes(g.whole).ForEach(func(key, _ gjson.Result) bool { keys = append(keys, key.Str); return true })
	}
	faults := misfits(schema, keys)
	out := []byte("{")
	for i, key := range g.keys {
		v, ok := g.values[key].as(property(schema, key))
		if !ok {
			f := fault.New(fault.Validation, "%q must be of type %s, and the text given is not", key, strings.Join(types(property(schema, key)), " or "))
			f.Path = "arguments." + key
			faults = append(faults, f)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, rawjson.Quote(key)...), ':'), v...)
	}
	if f := fault.Join(fault.Validation, "The arguments of "+tool.Name, faults); f != nil {
		return nil, f
	}
	if g.whole != nil {
		return g.whole, nil
	}
	return append(out, '}'), nil
}

// misfits are the keys that a schema does not have and those that it wants besides.
func misfits(schema gjson.Result, keys []string) []*fault.Fault {
	var faults []*fault.Fault
	var known []string
	schema.Get("properties").ForEach(func(key, _ gjson.Result) bool { known = append(known, key.Str); return true })
	more := schema.Get("additionalProperties")
	open := more.IsObject() || more.IsBool() && more.Bool() || schema.Get("patternProperties").Exists()
	for _, key := range keys {
		if slices.Contains(known, key) || open || known == nil && !more.Exists() {
			continue
		}
		f := fault.New(fault.Validation, "The tool has no parameter %q", key)
		f.Path, f.Available = "arguments."+key, known
		if near, ok := fault.Nearest(key, known); ok {
			f.Suggest("Did you mean %q?", near)
		}
		faults = append(faults, f)
	}
	for _, name := range schema.Get("required").Array() {
		if !slices.Contains(keys, name.Str) {
			f := fault.New(fault.Validation, "The tool requires parameter %q", name.Str)
			f.Path, f.Missing = "arguments."+name.Str, []string{name.Str}
			if d := property(schema, name.Str).Get("description").Str; d != "" {
				f.Message += ": " + d
			}
			faults = append(faults, f)
		}
	}
	return faults
}

// property finds a property's schema. The name is not a path: it may hold dots.
func property(schema gjson.Result, name string) (found gjson.Result) {
	schema.Get("properties").ForEach(func(key, p gjson.Result) bool {
		if key.Str == name {
			found = p
		}
		return key.Str != name
	})
	return found
}

// types are the JSON types that a schema allows, none when it does not say.
func types(schema gjson.Result) []string {
	var names []string
	if t := schema.Get("type"); t.IsArray() {
		for _, name := range t.Array() {
			names = append(names, name.Str)
		}
	} else if t.Exists() {
		names = append(names, t.Str)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, s := range schema.Get(key).Array() {
			names = append(names, types(s)...)
		}
	}
	return names
}

// as is the value in a type that the schema allows: text stays text wherever only text fits.
func (v value) as(schema gjson.Result) (json.RawMessage, bool) {
	if v.json != nil {
		return v.json, true
	}
	allowed := types(schema)
	may := func(name string) bool { return len(allowed) == 0 || slices.Contains(allowed, name) }
	text := strings.TrimSpace(v.text)
	word := strings.ToLower(text)
	parsed := gjson.Result{}
	if json.Valid([]byte(text)) {
		parsed = gjson.Parse(text)
	}
	switch {
	case may("boolean") && (word == "true" || word == "false"):
		return json.RawMessage(word), true
	case parsed.Type == gjson.Number && (may("number") || may("integer") && !strings.ContainsAny(text, ".eE")),
		parsed.IsObject() && may("object"), parsed.IsArray() && may("array"):
		return json.RawMessage(text), true
	case may("string"):
		return rawjson.Quote(v.text), true
	case may("boolean") && (word == "yes" || word == "1"):
		return json.RawMessage("true"), true
	case may("boolean") && (word == "no" || word == "0"):
		return json.RawMessage("false"), true
	case may("null") && text == "null":
		return json.RawMessage(text), true
	}
	return nil, false
}
