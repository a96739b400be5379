package settings

import (
	"maps"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// LocalRunner is the name of this machine among the places where nodes can run.
const LocalRunner = "local"

// CheckRunner returns a fault if a runner cannot have the name or the command.
func CheckRunner(name, command string) *fault.Fault {
	switch {
	case home.CheckName("runner", name) != nil:
		return fault.New(fault.Validation, "%q cannot be the name of a runner", fault.Truncate(name, 80)).
			Suggest("Names are lower-case letters and digits in words joined by single hyphens")
	case name == LocalRunner:
		return fault.New(fault.Validation, "The runner %s is built in: it is this machine", name).Suggest("Choose another name")
	case strings.TrimSpace(command) == "":
		return fault.New(fault.Validation, "The runner %s has no command", name).
			Then(fault.ByPerson(`Set its command, such as "ssh gpu1 pflow-exec node"`, "pflow-lib settings set runners.%s COMMAND", name))
	}
	return nil
}

// WithLocal returns runners with this machine, whose command is empty.
func WithLocal(runners map[string]string) map[string]string {
	all := map[string]string{LocalRunner: ""}
	maps.Copy(all, runners)
	return all
}
