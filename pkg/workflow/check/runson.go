package check

import (
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Runners are types that also know the names of the runners that nodes can run on.
type Runners interface {
	Types
	// Runners lists the names, that of this machine too.
	Runners() ([]string, error)
}

// runsOn checks the name of a runner, which may be empty. Without names to compare it with, it is not checked. node is the id of the
// node that has it, or empty.
func runsOn(c *checker, name, path, node string) {
	types, ok := c.types.(Runners)
	if name == "" || !ok {
		return
	}
	known, err := types.Runners()
	if err != nil || slices.Contains(known, name) {
		return
	}
	f := c.fail(path, "There is no runner %q", name)
	f.Node = node
	f.Offer(name, known)
	if near, ok := fault.Nearest(name, known); ok {
		f.Suggest("Did you mean %q?", near)
	}
	f.Then(fault.ByPerson("Set its command, such as 'ssh HOST pflow-exec node'", "pflow-lib settings set runners.%s COMMAND", name), fault.Command("Or for one run", "--runs-on %s=COMMAND", name))
}
