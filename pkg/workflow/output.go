package workflow

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// ValueType returns the declared type of the output as a type of inputs: string, number, integer, boolean, object or array. It returns
// "" if a value of any kind may be the output: no type or any is declared.
func (o Output) ValueType() string {
	switch typ := inputTypes[o.Type]; typ {
	case "any":
		return ""
	default:
		return typ
	}
}

// KnownType reports whether the declared type exists, or none is declared.
func (o Output) KnownType() bool {
	_, ok := inputTypes[o.Type]
	return ok
}

// Convert converts the value of the output with the given name to its declared type, as a value that is passed to an input.
// Null stays null. The fault of a value that does not fit is an execution_error.
func (o Output) Convert(name string, value json.RawMessage) (json.RawMessage, *fault.Fault) {
	typ := o.ValueType()
	if typ == "" {
		return value, nil
	}
	if v, ok := convert(typ, Given{JSON: value}); ok {
		return v, nil
	}
	f := fault.New(fault.Execution, "Output %q must be of type %s, got %s: %s", name, typ, rawjson.Kind(value), fault.Truncate(string(rawjson.Compact(value)), 100))
	f.Path = rawjson.JoinPath("outputs", name)
	return nil, f.Suggest("Correct the node that the value comes from, or declare another type for the output")
}
