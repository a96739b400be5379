// Package toolargs checks what a tool is called with against its input schema.
package toolargs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// maxEcho is the most bytes of what a caller sent that a text repeats.
	maxEcho = 200
	// maxListed is the most of a kind that a text lists.
	maxListed = 10
)

// Checker checks the arguments of one tool. It may be used by several callers at a time, and not be copied.
type Checker struct {
	tool   string
	schema *Schema
}

// NewChecker makes a Checker for the tool of a name, whose input schema is a JSON Schema of type object. With
// "additionalProperties":false arguments that it does not name are refused. The schema is read at the first check.
func NewChecker(tool string, schema json.RawMessage) *Checker {
	return &Checker{tool: tool, schema: NewSchema(schema)}
}

// Check gives the arguments of a call as a JSON object in the caller's bytes, {} for none and for null. A fault of type
// usage_error says all that is wrong with their names at once, ten unknown and ten missing ones at most, or else the
// first thing that does not fit. Of what the caller sent it repeats no more than 200 bytes at a time.
func (c *Checker) Check(arguments json.RawMessage) (json.RawMessage, *fault.Fault) {
	if err := c.schema.compile(); err != nil {
		return nil, fault.New(fault.Internal, "The input schema of the tool %s is no JSON Schema: %v", c.tool, err)
	}
	if trimmed := bytes.TrimSpace(arguments); len(trimmed) == 0 || string(trimmed) == "null" {
		arguments = json.RawMessage("{}")
	}
	given := gjson.ParseBytes(arguments)
	if !given.IsObject() {
		return nil, c.wrong("The arguments of %s must be a JSON object", c.tool)
	}
	if !json.Valid(arguments) {
		return nil, c.wrong("The arguments of %s cannot be read: they are no JSON", c.tool)
	}
	if f := c.checkNames(given); f != nil {
		return nil, f
	}
	value, err := decode(arguments)
	if err != nil {
		return nil, c.wrong("The arguments of %s cannot be read: %v", c.tool, err)
	}
	if err := c.schema.resolved.Validate(value); err != nil {
		return nil, c.violation(err)
	}
	return arguments, nil
}

// checkNames says which arguments are unknown or missing, all of them at once.
func (c *Checker) checkNames(given gjson.Result) *fault.Fault {
	schema, names := c.schema.schema, given.Map()
	var unknown, missing []string
	if gjson.GetBytes(c.schema.document, "additionalProperties").Type == gjson.False {
		for name := range names {
			if schema.Properties[name] == nil {
				unknown = append(unknown, name)
			}
		}
		slices.Sort(unknown)
	}
	for _, name := range schema.Required {
		if _, ok := names[name]; !ok {
			missing = append(missing, name)
		}
	}
	known := slices.Sorted(maps.Keys(schema.Properties))
	faults := c.first(unknown, "unknown", func(name string) *fault.Fault { return c.unknownArgument(name, known) })
	faults = append(faults, c.first(missing, "missing", c.missingArgument)...)
	what := "The arguments of " + c.tool
	joined := fault.Join(fault.Usage, what, faults)
	if all := len(unknown) + len(missing); all > len(faults) {
		joined.Message = fmt.Sprintf("%s: %d errors", what, all)
	}
	return joined
}

// first is a fault of each of the first names, and one that counts the rest.
func (c *Checker) first(names []string, kind string, of func(name string) *fault.Fault) []*fault.Fault {
	var faults []*fault.Fault
	for _, name := range names[:min(len(names), maxListed)] {
		faults = append(faults, of(name))
	}
	if more := len(names) - maxListed; more > 0 {
		faults = append(faults, c.wrong("… and %d more %s arguments", more, kind))
	}
	return faults
}

func (c *Checker) missingArgument(name string) *fault.Fault {
	f := c.wrong("The argument %q of %s is missing", name, c.tool)
	f.Missing = []string{name}
	return f
}

func (c *Checker) unknownArgument(name string, known []string) *fault.Fault {
	name = fault.Truncate(name, maxEcho)
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

func (c *Checker) wrong(format string, args ...any) *fault.Fault {
	return fault.New(fault.Usage, format, args...)
}
