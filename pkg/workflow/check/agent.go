package check

import (
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// agentType is the node type that gives a task to a command-line agent.
const agentType = "agent"

// agent checks the sandbox of an agent node, and that its backend has its parameters, as far as no template makes them.
func (c *checker) agent(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage, at string) {
	if kind.Name != agentType {
		return
	}
	report := func(f *fault.Fault) {
		shown := c.fail(at+"."+f.Path, "Node %q: %s", n.ID, f.Message)
		shown.SuggestAs(f).Node = n.ID
	}
	var sandbox nodetype.Sandbox
	if !template.MayHoldTemplate(params["sandbox"]) {
		var f *fault.Fault
		if sandbox, f = nodetype.SandboxOf(params["sandbox"]); f != nil {
			report(f)
		}
	}
	backend := nodetype.Claude // the default
	if raw, ok := params["backend"]; ok && string(raw) != "null" {
		if backend = literalText(raw); backend != nodetype.Claude && backend != nodetype.Codex {
			return
		}
	}
	given := func(param string) bool {
		return !slices.Contains([]string{"", "null", `""`, "[]", "{}"}, string(params[param]))
	}
	if f := nodetype.UnsupportedByAgent(backend, given, sandbox); f != nil {
		report(f)
	}
}
