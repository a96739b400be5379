package runner

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process/chain"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// checkAround returns a fault if the run would be inside a run of its own workflow, or inside too many runs. Through servers and commands a
// workflow can run itself without a check of its text showing it. Runs that have ended count: a start that does not wait would go on
// for ever. Of a run that this home does not have, only that it is there is known.
func (l *Launch) checkAround() error {
	around := chain.Of(l.host.Env)
	if len(around) > chain.Max {
		return fault.New(fault.Validation, "The workflow %q would run inside %d other runs: runs nest at most %d deep", l.request.Name, len(around), chain.Max).
			Detail(chain.Detail, around).Suggest("Nest fewer runs, or repeat a workflow with a loop or a batch")
	}
	names := make([]string, len(around), len(around)+1)
	circle := -1
	for i, id := range around {
		names[i] = id
		w := l.workflowOf(id)
		if w == nil {
			continue
		}
		if names[i] = w.Name; circle < 0 && w.Digest == l.top.Digest && l.request.owns(w, false) {
			circle = i
		}
	}
	if circle < 0 {
		return nil
	}
	return fault.New(fault.Validation, "Circular workflows: %s (each runs the next)", strings.Join(append(names[circle:], l.request.Name), " → ")).
		Detail(chain.Detail, around[circle:]).
		Suggest("A workflow cannot run itself, directly or through others, a server or a command: use a loop or a batch to repeat")
}

// workflowOf returns the workflow of a run of this home, or nil.
func (l *Launch) workflowOf(id string) *event.Workflow {
	if !journal.Exists(l.host.Home, id) {
		return nil
	}
	first, _, err := journal.At(l.host.Home, id).FirstAndLast()
	if err != nil || first == nil {
		return nil
	}
	return first.Workflow
}
