package check

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// jqType is the node type whose filter is checked.
const jqType = "jq"

// filter checks the filter of a jq node, unless a template makes it.
func (c *checker) filter(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage, at string) {
	var text string
	if kind.Name != jqType || json.Unmarshal(params["filter"], &text) != nil {
		return
	}
	path := at + ".params.filter"
	if template.MayHoldTemplate(params["filter"]) {
		parts := template.Parse(text)
		if i := slices.IndexFunc(parts, func(p template.Part) bool { return p.Expr != nil }); i >= 0 {
			if len(parts) > 1 {
				c.warn(path, "Node %q: the value of %s becomes part of the filter's code", n.ID, parts[i].Source).
					Suggest(`Pass it to the filter as a $variable: "args": {"name": "%s"}`, parts[i].Source).Node = n.ID
			}
			return
		}
		if len(parts) == 1 {
			text = parts[0].Text
		}
	}
	if c.judge == nil || !c.judged(n, text, params["args"], path) {
		c.environment(n, text, path)
	}
}

// judged checks a filter, and reports whether it is wrong.
func (c *checker) judged(n *workflow.Node, text string, rawArgs json.RawMessage, path string) (wrong bool) {
	args, known := argNames(rawArgs)
	problem := c.judge(text, args)
	if problem == nil || !known && len(problem.Missing) > 0 { // args from a template may define the variable
		return false
	}
	f := c.fail(path, "Node %q: %s", n.ID, problem.Message)
	f.SuggestAs(problem).Node, f.Missing = n.ID, problem.Missing
	f.Available, f.AvailableTotal = problem.Available, problem.AvailableTotal
	if offset, ok := problem.Details["offset"].(int); ok {
		f.File, f.Line, f.Column = c.file.PlaceIn(path, offset)
	}
	return true
}

// environment warns of a filter that reads $ENV.
func (c *checker) environment(n *workflow.Node, text, path string) {
	if strings.Contains(text, "$ENV") {
		c.warn(path, "Node %q: $ENV is empty: a filter cannot read the environment", n.ID).
			Suggest(`Declare an input with the variable's name, and pass it to the filter: "args": {"NAME": "${NAME}"}`).Node = n.ID
	}
}

// argNames returns the names of a filter's variables; known is false if they are known only at run time.
func argNames(raw json.RawMessage) (names []string, known bool) {
	var args map[string]json.RawMessage
	if raw != nil && json.Unmarshal(raw, &args) != nil {
		return nil, false
	}
	return sortedNames(args), true
}
