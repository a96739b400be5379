// Package toolargs checks the arguments of a tool against its input schema, and reads arguments from the text of a command
// line.
package toolargs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

const (
	// maxEcho is the most bytes of what a caller sent that a message repeats.
	maxEcho = 200
	// maxListed is the most unknown arguments, and the most missing ones, that a message lists.
	maxListed = 10
)

// Checker checks the arguments of one tool. It may be used by several goroutines at a time.
type Checker struct {
	tool   string
	schema func() (*jsonschema.Schema, *fault.Fault)
}

// NewChecker returns a Checker for the named tool. Its input schema must be a JSON Schema of type object, which is read at the
// first check. With "additionalProperties": false it refuses arguments that it does not name.
func NewChecker(tool string, schema json.RawMessage) *Checker {
	return &Checker{tool: tool, schema: jsonschema.Lazy(schema)}
}

// Check returns the arguments of a call as a JSON object in the caller's bytes: {} for no arguments and for null. Some clients
// send null for an argument that is not given, so an argument that the schema names and whose own schema does not allow null is
// left out if it is null. A fault of type usage_error names a key that stands twice in one object, or else all unknown and missing
// arguments at once, at most ten of each, or else the first value that does not fit. It repeats no more than 200 bytes of what the
// caller sent at a time.
func (c *Checker) Check(arguments json.RawMessage) (json.RawMessage, *fault.Fault) {
	schema, f := c.schema()
	if f != nil {
		return nil, fault.New(fault.Internal, "The input schema of the tool %s is not a JSON Schema: %s", c.tool, f.Message)
	}
	if trimmed := bytes.TrimSpace(arguments); len(trimmed) == 0 || string(trimmed) == "null" {
		arguments = json.RawMessage("{}")
	}
	value, err := jsonschema.Decode(arguments)
	if err != nil {
		return nil, c.wrong("The arguments of %s cannot be read, they must be a JSON object: %v", c.tool, err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, c.wrong("The arguments of %s must be a JSON object", c.tool)
	}
	if err := input.CheckKeys("The call of "+c.tool, arguments); err != nil {
		twice := *fault.From(err)
		twice.Type = fault.Usage // as of all else that is wrong with a call
		return nil, &twice
	}
	arguments, err = withoutNulls(schema, arguments, object)
	if err != nil {
		return nil, c.wrong("The arguments of %s cannot be read: %v", c.tool, err)
	}
	if f := c.checkNames(schema, object); f != nil {
		return nil, f
	}
	if v := schema.CheckValue(object); v != nil {
		return nil, c.violation(v)
	}
	return arguments, nil
}

// withoutNulls removes the arguments that count as left out because they are null, from the JSON object and from its value.
func withoutNulls(schema *jsonschema.Schema, arguments json.RawMessage, object map[string]any) (json.RawMessage, error) {
	given := len(object)
	maps.DeleteFunc(object, func(name string, value any) bool { return value == nil && !schema.AllowsNull(name) })
	if len(object) == given {
		return arguments, nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &raw); err != nil {
		return nil, err
	}
	maps.DeleteFunc(raw, func(name string, _ json.RawMessage) bool { _, kept := object[name]; return !kept })
	return rawjson.Marshal(raw)
}

func (c *Checker) violation(v *jsonschema.Violation) *fault.Fault {
	f := c.wrong("The arguments of %s must %s", c.tool, v.Must)
	if v.Path != "" {
		f = c.wrong("The argument %s of %s must %s", fault.Truncate(v.Path, maxEcho), c.tool, v.Must)
		f.Path = v.Path
	}
	if v.Hint != "" {
		f.Suggest("%s", v.Hint)
	}
	return f
}

// checkNames returns the unknown and the missing arguments as one fault, or nil if all names are right.
func (c *Checker) checkNames(schema *jsonschema.Schema, object map[string]any) *fault.Fault {
	unknown, missing := schema.Names(object)
	faults := c.first(unknown, "unknown", func(name string) *fault.Fault { return c.unknownArgument(name, schema.Properties()) })
	faults = append(faults, c.first(missing, "missing", c.missingArgument)...)
	what := "The arguments of " + c.tool
	joined := fault.Join(fault.Usage, what, faults)
	if all := len(unknown) + len(missing); all > len(faults) {
		joined.Message = fmt.Sprintf("%s: %d errors", what, all)
	}
	return joined
}

// first returns a fault for each of the first names, and one that counts the rest.
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
	f.Offer(name, known)
	return f.Suggest("Its arguments are %s", strings.Join(f.Available, ", "))
}

func (c *Checker) wrong(format string, args ...any) *fault.Fault {
	return fault.New(fault.Usage, format, args...)
}
