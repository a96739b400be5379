package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/mcp/toolargs"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// values are a tool's arguments as they were given: a whole object, or values by key.
type values struct {
	whole json.RawMessage
	keys  []string
	byKey map[string]value
}

// value is JSON, or text that takes the type asked for.
type value struct {
	json json.RawMessage
	text string
}

// readArguments reads KEY=VALUE, KEY:=JSON, KEY=@FILE and - off a command line.
func readArguments(app *cli.App, args []string) (values, error) {
	g := values{byKey: map[string]value{}}
	if slices.Contains(args, "-") {
		if len(args) > 1 {
			return g, fault.New(fault.Usage, "- reads all arguments from standard input; nothing can stand beside it")
		}
		data, err := app.ReadArgument("-")
		if err != nil {
			return g, err
		}
		g.whole = bytes.TrimSpace(data)
		if !json.Valid(g.whole) || !gjson.ParseBytes(g.whole).IsObject() {
			return g, fault.New(fault.Usage, "Standard input is not one JSON object")
		}
		return g, nil
	}
	assignments, err := app.Assignments(args)
	if err != nil {
		return g, err
	}
	for _, a := range assignments {
		g.keys = append(g.keys, a.Key)
		g.byKey[a.Key] = value{json: a.JSON, text: a.Text}
	}
	return g, nil
}

// object makes the tool's arguments. All that does not fit the tool's input schema is one validation_error.
func (g values) object(tool mcpclient.Tool) (json.RawMessage, error) {
	schema := gjson.ParseBytes(tool.InputSchema)
	keys := g.keys
	if g.whole != nil {
		keys = nil
		gjson.ParseBytes(g.whole).ForEach(func(key, _ gjson.Result) bool { keys = append(keys, key.Str); return true })
	}
	faults := misfits(schema, keys)
	out := []byte("{")
	for i, key := range g.keys {
		v, ok := g.byKey[key].as(schema, key)
		if !ok {
			f := fault.New(fault.Validation, "%q must be of type %s, and the text given is not", key, strings.Join(toolargs.Types(toolargs.Property(schema, key)), " or "))
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
			if d := toolargs.Property(schema, name.Str).Get("description").Str; d != "" {
				f.Message += ": " + d
			}
			faults = append(faults, f)
		}
	}
	return faults
}

// as is the value in a type that the schema has for it.
func (v value) as(schema gjson.Result, key string) (json.RawMessage, bool) {
	if v.json != nil {
		return v.json, true
	}
	return toolargs.FromText(toolargs.Property(schema, key), v.text)
}
