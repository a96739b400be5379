package mcpserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// entry is a tool with its input schema, which is compiled when the tool is first called.
type entry struct {
	*Tool
	compile sync.Once
	schema  *jsonschema.Schema
	checker *jsonschema.Resolved
	broken  *fault.Fault
}

func (e *entry) prepare() {
	var err error
	if e.schema, e.checker, err = compile(e.InputSchema); err != nil {
		e.broken = fault.New(fault.Internal, "The input schema of the tool %s is no JSON Schema: %v", e.Name, err)
	}
}

func compile(document json.RawMessage) (*jsonschema.Schema, *jsonschema.Resolved, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(document, &schema); err != nil {
		return nil, nil, err
	}
	checker, err := schema.Resolve(nil)
	return &schema, checker, err
}

// allows says whether structured content fits the tool's output schema, if it has one.
func (e *entry) allows(structured json.RawMessage) bool {
	if e.OutputSchema == nil || structured == nil {
		return true
	}
	_, checker, err := compile(e.OutputSchema)
	if err != nil {
		return false
	}
	var value any
	return json.Unmarshal(structured, &value) == nil && checker.Validate(value) == nil
}

// check gives the arguments of a call as a JSON object in the client's bytes, or says what is wrong with them.
func (e *entry) check(arguments json.RawMessage) (json.RawMessage, *fault.Fault) {
	e.compile.Do(e.prepare)
	if e.broken != nil {
		return nil, e.broken
	}
	given := gjson.ParseBytes(arguments)
	if given.Type == gjson.Null { // absent too
		arguments, given = json.RawMessage("{}"), gjson.Parse("{}")
	}
	if !given.IsObject() {
		return nil, e.wrong("The arguments of %s must be a JSON object", e.Name)
	}
	if f := e.checkNames(given); f != nil {
		return nil, f
	}
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return nil, e.wrong("The arguments of %s cannot be read: %v", e.Name, err)
	}
	if err := e.checker.Validate(value); err != nil {
		return nil, e.violation(err)
	}
	return arguments, nil
}

// checkNames says which arguments are unknown or missing, all of them at once.
func (e *entry) checkNames(given gjson.Result) *fault.Fault {
	known := slices.Sorted(maps.Keys(e.schema.Properties))
	names := given.Map()
	var faults []*fault.Fault
	if gjson.GetBytes(e.InputSchema, "additionalProperties").Type == gjson.False {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if e.schema.Properties[name] == nil {
				faults = append(faults, e.unknownArgument(name, known))
			}
		}
	}
	for _, name := range e.schema.Required {
		if _, ok := names[name]; !ok {
			f := e.wrong("The argument %q of %s is missing", name, e.Name)
			f.Missing = []string{name}
			faults = append(faults, f)
		}
	}
	return fault.Join(fault.Usage, "The arguments of "+e.Name, faults)
}

func (e *entry) unknownArgument(name string, known []string) *fault.Fault {
	f := e.wrong("%s has no argument %q", e.Name, name)
	if len(known) == 0 {
		return f.Suggest("It takes no arguments")
	}
	if near, ok := fault.Nearest(name, known); ok {
		f.Suggest("Did you mean %q?", near)
	}
	f.Available = known
	return f.Suggest("Its arguments are %s", strings.Join(known, ", "))
}

// violation puts what the schema's checker found into words. The checker says "validating PLACE: " once for every
// level, then "keyword: …", where some keywords print the value as Go does.
func (e *entry) violation(err error) *fault.Fault {
	text, place := err.Error(), ""
	for strings.HasPrefix(text, "validating ") {
		at, rest, ok := strings.Cut(strings.TrimPrefix(text, "validating "), ": ")
		if !ok {
			break
		}
		place, text = at, rest
	}
	if strings.HasPrefix(text, "type: ") {
		if at := strings.LastIndex(text, " has type "); at >= 0 {
			text = "it" + text[at:]
		}
	}
	path := argumentPath(place)
	if path == "" {
		return e.wrong("The arguments of %s do not fit its schema: %s", e.Name, text)
	}
	f := e.wrong("The argument %s of %s does not fit its schema: %s", path, e.Name, text)
	f.Path = path
	return f
}

// argumentPath makes a.b[] of a place in the schema, /properties/a/properties/b/items.
func argumentPath(place string) string {
	segments := strings.Split(strings.TrimPrefix(place, "/"), "/")
	var path strings.Builder
	for i := 0; i < len(segments); i++ {
		switch segments[i] {
		case "properties":
			if i++; i < len(segments) {
				path.WriteString("." + strings.NewReplacer("~1", "/", "~0", "~").Replace(segments[i]))
			}
		case "items":
			path.WriteString("[]")
		}
	}
	return strings.TrimPrefix(path.String(), ".")
}

func (e *entry) wrong(format string, args ...any) *fault.Fault {
	return fault.New(fault.Usage, format, args...)
}
