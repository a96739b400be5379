package check

import (
	"bytes"
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// schemaOf returns the input schema of an MCP tool. It is nil if the type is no tool, or if the schema cannot be used.
func (c *checker) schemaOf(kind nodetype.Type) *jsonschema.Schema {
	if kind.MCP == nil || kind.MCP.OriginalSchema == nil {
		return nil
	}
	if s, ok := c.schemas[kind.Name]; ok {
		return s
	}
	s := jsonschema.CompileForeign(kind.MCP.OriginalSchema)
	c.schemas[kind.Name] = s
	return s
}

// takesMore reports whether a tool takes parameters that its declaration does not name.
func (c *checker) takesMore(kind nodetype.Type) bool {
	if kind.MCP.OriginalSchema == nil {
		return len(kind.Params) == 0
	}
	return jsonschema.TakesMore(kind.MCP.OriginalSchema, c.schemaOf(kind) != nil)
}

// toolArgument checks a parameter of an MCP tool by the tool's input schema. What the schema says about a part with a template shows
// in the run.
func (c *checker) toolArgument(n *workflow.Node, kind nodetype.Type, p nodetype.Param, value json.RawMessage, at string) {
	if s := c.schemaOf(kind); s != nil {
		c.violated(n, s.CheckMember(p.Name, value), at)
	}
}

// toolArguments checks all parameters of an MCP tool together, if they have no templates.
func (c *checker) toolArguments(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage, at string) {
	s := c.schemaOf(kind)
	if s == nil {
		return
	}
	given, more := map[string]json.RawMessage{}, c.takesMore(kind)
	for name, value := range params {
		param, ok := kind.Param(name)
		switch fitted, fits := nodetype.Fit(param.Type, value); {
		case bytes.Contains(value, []byte("${")):
			return
		case ok && string(value) == "null" && !s.AllowsNull(name):
		case ok && fits && string(value) != "null":
			given[name] = fitted
		case ok || more:
			given[name] = value
		}
	}
	whole, err := rawjson.Marshal(given)
	if err != nil {
		return
	}
	c.violated(n, s.Check(whole), at)
}

// violated reports a violation in a node's parameters, unless it may be one only as long as templates are not resolved.
func (c *checker) violated(n *workflow.Node, v *jsonschema.Violation, at string) {
	if v == nil || v.DependsOn("${") {
		return
	}
	path, what := at+".params", "the parameters"
	if v.Path != "" {
		path, what = rawjson.AppendPath(path, v.Path), "parameter "+fault.Truncate(v.Path, 200)
	}
	f := c.fail(path, "Node %q (%s): %s must %s", n.ID, n.Type, what, v.Must)
	f.Node = n.ID
	if v.Hint != "" {
		f.Suggest("%s", v.Hint)
	}
}
