package runner

import (
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/home/settings"
)

// runnersOf returns the command lines of the runners that the run can use, by their names.
func runnersOf(l *Launch) map[string]string {
	all := settings.WithLocal(l.settings.Runners)
	maps.Copy(all, l.request.Runners)
	return all
}

// runnerTypes are the registered types, and the runners of a run.
type runnerTypes struct {
	*registry.Registry
	launch *Launch
}

// Runners lists the names of the runners.
func (r runnerTypes) Runners() ([]string, error) {
	return slices.Sorted(maps.Keys(runnersOf(r.launch))), nil
}
