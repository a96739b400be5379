package check

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// durationForms is the suggestion for a value that is not a duration.
const durationForms = "Write a number of seconds, or text such as 500ms, 30s, 5m or 1h30m"

// timeout checks the parameter timeout of a node, which the node of any type may have.
func (c *checker) timeout(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage, at string) {
	raw, given := params[nodetype.TimeoutParam]
	if !given || !kind.LimitsTime() || string(raw) == "null" {
		return
	}
	path := rawjson.JoinPath(at+".params", nodetype.TimeoutParam)
	literal := !strings.Contains(string(raw), "${")
	if _, declared := kind.Param(nodetype.TimeoutParam); literal && !declared && !nodetype.IsLimit(raw) {
		c.fail(path, "Node %q: the timeout must be a duration of more than 0 seconds, not %s", n.ID, shown(raw)).Suggest(durationForms).Node = n.ID
		return
	}
	if n.Timeout == nil {
		return
	}
	beside := cmp.Or(n.Timeout.Attempt, n.Timeout.Node)
	if d, _ := nodetype.DurationOf(raw); literal && d == time.Duration(beside) {
		return
	}
	c.fail(path, "Node %q has two timeouts that disagree: %s among the parameters, and %s beside them", n.ID, raw, beside).
		Suggest(`Keep one of them; for limits of each attempt and of all write "timeout": {"attempt": "10s", "node": "5m"} beside params`).Node = n.ID
}
