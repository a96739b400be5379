package check

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// agentType is the node type that gives a task to a command-line agent.
const agentType = "agent"

// agent checks the sandbox of an agent node, unless a template makes it.
func (c *checker) agent(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage, at string) {
	if kind.Name != agentType || template.MayHoldTemplate(params["sandbox"]) {
		return
	}
	if _, f := nodetype.SandboxOf(params["sandbox"]); f != nil {
		shown := c.fail(at+".params.sandbox", "Node %q: %s", n.ID, f.Message)
		shown.Node, shown.Suggestions = n.ID, f.Suggestions
	}
}
