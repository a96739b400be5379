package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// described appends the description of a parameter to a suggestion.
func described(what string, p nodetype.Param) string {
	if p.Description == "" {
		return what
	}
	return what + ": " + p.Description
}

// shown describes a literal value in an error: its kind and, if it is short, the value.
func shown(raw json.RawMessage) string {
	kind, text := rawjson.Kind(raw), string(bytes.TrimSpace(raw))
	switch {
	case kind == "true or false":
		return text
	case kind == "an object", kind == "a list", len(text) > 60:
		return kind
	}
	return kind + ": " + text
}

// params checks that no parameter is unknown or missing, and that literal values have the right type.
func (c *checker) params(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage, at string) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		path := rawjson.JoinPath(at+".params", name)
		p, ok := kind.Param(name)
		switch {
		case strings.HasPrefix(name, "__"):
			c.fail(path, "Node %q (%s): parameter %q is reserved: a workflow cannot set names that start with __", n.ID, n.Type, name).
				Suggest("Remove it").Node = n.ID
		case !ok && kind.MCP != nil && c.takesMore(kind):
		case !ok && name == nodetype.TimeoutParam && kind.LimitsTime():
		case !ok && name == "inputs": // local names of the node
			c.ownInputs(n, params[name], path)
		case !ok:
			f := c.fail(path, "Node %q (%s): unknown parameter %q", n.ID, n.Type, name)
			f.Node = n.ID
			c.instead(f, name, "A "+n.Type+" node takes", kind.ParamNames())
		case string(params[name]) != "null" && !strings.Contains(string(params[name]), "${"):
			c.literal(n, kind, p, params[name], path)
		case ok && kind.MCP != nil && string(params[name]) != "null":
			c.toolArgument(n, kind, p, params[name], at)
		}
	}
	for _, p := range kind.Params {
		if _, ok := params[p.Name]; !ok && p.Required {
			f := c.fail(at, "Node %q (%s): parameter %q is required", n.ID, n.Type, p.Name)
			f.Node, f.Missing = n.ID, []string{p.Name}
			f.Suggest("%s", described(fmt.Sprintf("Add %q", p.Name), p))
		}
	}
}

// literal checks a value without templates.
func (c *checker) literal(n *workflow.Node, kind nodetype.Type, p nodetype.Param, value json.RawMessage, path string) {
	fail := func(format string, args ...any) *fault.Fault {
		f := c.fail(path, "Node %q (%s): parameter %q %s", n.ID, n.Type, p.Name, fmt.Sprintf(format, args...))
		f.Node = n.ID
		return f
	}
	fitted, ok := nodetype.Fit(p.Type, value)
	switch {
	case !ok && p.Type == nodetype.DurationType:
		fail("must be a duration, not %s", shown(value)).Suggest(durationForms)
	case !ok:
		fail("must be of type %s, not %s", p.Type, shown(value)).Suggest("%s", described("Correct the value", p))
	case !p.Allows(value):
		fail("cannot be %s", shown(value)).Suggest("Use one of: %s", p.Enum)
	case kind.MCP != nil:
		c.toolArgument(n, kind, p, fitted, strings.TrimSuffix(path, rawjson.JoinPath(".params", p.Name)))
	case p.Type == nodetype.DurationType:
		if !nodetype.IsLimit(fitted) {
			fail("must be more than 0 seconds").Suggest("%s", described("Correct the value", p))
		}
	case kind.Name == "http" && p.Name == "url":
		var text string
		if json.Unmarshal(fitted, &text) != nil {
			return
		}
		if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			fail("must be an http or https URL, not %s", shown(value)).Suggest("Write the whole URL: https://host/path")
		}
	}
}

// ownInputs checks the local names in a node's inputs.
func (c *checker) ownInputs(n *workflow.Node, raw json.RawMessage, path string) {
	var named map[string]json.RawMessage
	if json.Unmarshal(raw, &named) != nil || named == nil {
		c.fail(path, "Node %q: inputs must be an object of names and values, not %s", n.ID, rawjson.Kind(raw)).Node = n.ID
		return
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !template.IsName(name) {
			c.fail(rawjson.JoinPath(path, name), "Node %q: invalid input name %q: templates cannot refer to it", n.ID, name).
				Suggest(nameRule).Node = n.ID
		}
	}
}
