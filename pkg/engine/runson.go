package engine

import (
	"cmp"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// runsOn returns the name of the runner that runs the node, or "" for this machine. The nodes of a sub-workflow have runners of
// their own.
func (nr *nodeRun) runsOn() string {
	name := cmp.Or(nr.node.RunsOn, nr.frame.runsOn)
	if name == settings.LocalRunner || nr.isSub() {
		return ""
	}
	return name
}

// runner returns where the attempt is executed, or nil for this machine. An attempt whose end is not known is repeated at once only
// if the node has no policy of its own for that.
func (t *task) runner(commands map[string]string) *node.Runner {
	name := t.run.runsOn()
	if name == "" {
		return nil
	}
	return &node.Runner{Name: name, Command: commands[name], Again: t.run.node.Idempotent && plan.Policy(t.run.node) == nil}
}
