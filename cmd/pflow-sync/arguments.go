package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/mcp/toolargs"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// toolArguments are the arguments of a tool as they were given: a whole object, or values by key.
type toolArguments struct {
	whole json.RawMessage
	byKey []cli.Assignment
}

// readArguments parses KEY=VALUE, KEY:=JSON, KEY=@FILE and - from a command line.
func readArguments(app *cli.App, args []string) (toolArguments, error) {
	if slices.Contains(args, "-") {
		if len(args) > 1 {
			return toolArguments{}, fault.New(fault.Usage, "- reads all arguments from standard input and must be the only argument")
		}
		whole, err := app.ReadObject()
		return toolArguments{whole: whole}, err
	}
	byKey, err := app.Assignments(args)
	return toolArguments{byKey: byKey}, err
}

// object returns the tool's arguments as a JSON object. Everything that does not fit the tool's input schema is reported
// in one validation_error.
func (g toolArguments) object(tool mcpclient.Tool) (json.RawMessage, error) {
	schema := gjson.ParseBytes(tool.InputSchema)
	var keys []string
	gjson.ParseBytes(g.whole).ForEach(func(key, _ gjson.Result) bool { keys = append(keys, key.Str); return true })
	for _, a := range g.byKey {
		keys = append(keys, a.Key)
	}
	compiled := jsonschema.CompileForeign(tool.InputSchema)
	faults := mismatches(tool.InputSchema, compiled != nil, keys)
	out := []byte("{")
	for i, a := range g.byKey {
		property := toolargs.Property(schema, a.Key)
		v, ok := a.JSON, true
		if v == nil {
			v, ok = toolargs.FromText(property, a.Text)
		}
		if !ok {
			f := fault.New(fault.Validation, "%q must be of type %s, but the given text is not", a.Key, strings.Join(toolargs.Types(property), " or "))
			f.Path = "arguments." + a.Key
			faults = append(faults, f)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, rawjson.Quote(a.Key)...), ':'), v...)
	}
	if f := fault.Join(fault.Validation, "The arguments of "+tool.Name, faults); f != nil {
		return nil, f
	}
	if out = append(out, '}'); g.whole != nil {
		out = g.whole
	}
	if compiled == nil {
		return out, nil
	}
	out = withoutNulls(compiled, out)
	if f := violation(tool, compiled, out); f != nil {
		return nil, f
	}
	return out, nil
}

// withoutNulls returns a JSON object without the members that are null although their schema does not allow it. Some clients send
// null for an argument that is not given.
func withoutNulls(schema *jsonschema.Schema, arguments json.RawMessage) json.RawMessage {
	out := []byte("{")
	gjson.ParseBytes(arguments).ForEach(func(key, value gjson.Result) bool {
		if value.Type == gjson.Null && !schema.AllowsNull(key.Str) {
			return true
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key.Raw...), ':'), value.Raw...)
		return true
	})
	return append(out, '}')
}

// violation returns the fault of the first argument that the tool's input schema does not allow, or nil.
func violation(tool mcpclient.Tool, schema *jsonschema.Schema, arguments json.RawMessage) *fault.Fault {
	v := schema.Check(arguments)
	if v == nil {
		return nil
	}
	f := fault.New(fault.Validation, "The arguments of %s must %s", tool.Name, v.Must)
	if f.Path = "arguments"; v.Path != "" {
		f.Message = fmt.Sprintf("The argument %s of %s must %s", fault.Truncate(v.Path, 200), tool.Name, v.Must)
		f.Path = rawjson.AppendPath(f.Path, v.Path)
	}
	if v.Hint != "" {
		f.Suggest("%s", v.Hint)
	}
	return f
}

// mismatches returns faults for the keys that a schema, which may not be usable, does not have, and for the required keys that are
// missing.
func mismatches(source json.RawMessage, usable bool, keys []string) []*fault.Fault {
	var faults []*fault.Fault
	var known []string
	schema, more := gjson.ParseBytes(source), jsonschema.TakesMore(source, usable)
	schema.Get("properties").ForEach(func(key, _ gjson.Result) bool { known = append(known, key.Str); return true })
	for _, key := range keys {
		if more || slices.Contains(known, key) {
			continue
		}
		f := fault.New(fault.Validation, "The tool has no parameter %q", key)
		f.Offer(key, known).Path = "arguments." + key
		if near, ok := fault.Nearest(key, known); ok {
			f.Suggest("Did you mean %q?", near)
		}
		faults = append(faults, f)
	}
	for _, name := range toolargs.Required(schema) {
		if !slices.Contains(keys, name) {
			f := fault.New(fault.Validation, "The tool requires parameter %q", name)
			f.Path, f.Missing = "arguments."+name, []string{name}
			if d := toolargs.Property(schema, name).Get("description").Str; d != "" {
				f.Message += ": " + d
			}
			faults = append(faults, f)
		}
	}
	return faults
}
