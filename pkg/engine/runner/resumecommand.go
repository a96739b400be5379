package runner

import (
	"bytes"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// resumption returns the step that goes on from the run. Secrets that the run cannot store have to be given again: those in a workflow
// from standard input, and those given as inputs.
func (l *Launch) resumption(id string) fault.Step {
	r := l.request
	return fault.Step{Do: fault.DoResume, Run: id, Inputs: l.given, Workflow: r.Name == "-" && r.Path == "" && bytes.Contains(l.definition, []byte(redact.Mark))}
}
