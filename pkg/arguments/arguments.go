// Package arguments checks what a tool is called with against its input schema.
package arguments

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

// Checker checks the arguments of one tool. It may be used by several callers at a time, and not be copied.
type Checker struct {
	tool     string
	document json.RawMessage

	compile sync.Once
	schema  *jsonschema.Schema
	checker *jsonschema.Resolved
	broken  *fault.Fault
}

// NewChecker makes a Checker for the tool of a name, whose input schema is a JSON Schema of type object. With
// "additionalProperties":false arguments that it does not name are refused. The schema is read at the first check.
func NewChecker(tool string, schema json.RawMessage) *Checker {
	return &Checker{tool: tool, document: schema}
}

func (c *Checker) prepare() {
	var err error
	if c.schema, c.checker, err = compile(c.document); err != nil {
		c.broken = fault.New(fault.Internal, "The input schema of the tool %s is no JSON Schema: %v", c.tool, err)
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

// Fit says whether a document fits a JSON Schema. Nothing fits one that is none.
func Fit(schema, document json.RawMessage) bool {
	_, checker, err := compile(schema)
	if err != nil {
		return false
	}
	var value any
	return json.Unmarshal(document, &value) == nil && checker.Validate(value) == nil
}

// Check gives the arguments of a call as a JSON object in the caller's bytes, {} for none and for null. A fault of type
// usage_error says all that is wrong with their names at once, or else the first thing that does not fit.
func (c *Checker) Check(arguments json.RawMessage) (json.RawMessage, *fault.Fault) {
	c.compile.Do(c.prepare)
	if c.broken != nil {
		return nil, c.broken
	}
	given := gjson.ParseBytes(arguments)
	if given.Type == gjson.Null { // absent too
		arguments, given = json.RawMessage("{}"), gjson.Parse("{}")
	}
	if !given.IsObject() {
		return nil, c.wrong("The arguments of %s must be a JSON object", c.tool)
	}
	if !json.Valid(arguments) {
		return nil, c.wrong("The arguments of %s cannot be read: they are no JSON", c.tool)
	}
	if f := c.checkNames(given); f != nil {
		return nil, f
	}
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return nil, c.wrong("The arguments of %s cannot be read: %v", c.tool, err)
	}
	if err := c.checker.Validate(value); err != nil {
		return nil, c.violation(err)
	}
	return arguments, nil
}

// checkNames says which arguments are unknown or missing, all of them at once.
func (c *Checker) checkNames(given gjson.Result) *fault.Fault {
	known := slices.Sorted(maps.Keys(c.schema.Properties))
	names := given.Map()
	var faults []*fault.Fault
	if gjson.GetBytes(c.document, "additionalProperties").Type == gjson.False {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if c.schema.Properties[name] == nil {
				faults = append(faults, c.unknownArgument(name, known))
			}
		}
	}
	for _, name := range c.schema.Required {
		if _, ok := names[name]; !ok {
			f := c.wrong("The argument %q of %s is missing", name, c.tool)
			f.Missing = []string{name}
			faults = append(faults, f)
		}
	}
	return fault.Join(fault.Usage, "The arguments of "+c.tool, faults)
}

func (c *Checker) unknownArgument(name string, known []string) *fault.Fault {
	f := c.wrong("%s has no argument %q", c.tool, name)
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
func (c *Checker) violation(err error) *fault.Fault {
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
		return c.wrong("The arguments of %s do not fit its schema: %s", c.tool, text)
	}
	f := c.wrong("The argument %s of %s does not fit its schema: %s", path, c.tool, text)
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

func (c *Checker) wrong(format string, args ...any) *fault.Fault {
	return fault.New(fault.Usage, format, args...)
}
