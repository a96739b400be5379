package check

import (
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// fromInputs marks the workflow's inputs that set the parameters of the same name as used. It reports a deletion that is
// not confirmed, because it would fail in every run.
func (c *checker) fromInputs(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage, at string) {
	for _, p := range kind.Params {
		if !p.Input {
			continue
		}
		value, given := params[p.Name]
		_, declared := c.w.Inputs[p.Name]
		if !given && declared {
			c.used[p.Name] = true
			continue
		}
		if p.Name != "confirm_delete" {
			continue
		}
		absent := !given || string(value) == "null"
		if fitted, ok := nodetype.Fit(p.Type, orNull(value)); !absent && (!ok || string(fitted) != "false" || strings.Contains(string(value), "${")) {
			continue
		}
		f := c.fail(at, "Node %q (%s) would delete nothing and fail: confirm_delete is not true", n.ID, n.Type)
		if given {
			f.Path = at + ".params." + p.Name
			c.place(f)
		}
		f.Node = n.ID
		f.Suggest(`Set "confirm_delete": true in its params, or declare an input of that name, so that each run confirms it: "inputs": {"confirm_delete": {"type": "boolean"}}`)
	}
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}
