package runner

import (
	"bytes"

	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// resumeCommand returns the command line that goes on from the run. Secrets that the run cannot store have to be given again: those
// in a workflow from standard input, and those given as inputs.
func (l *Launch) resumeCommand(id string) string {
	command := journal.ResumeCommand(id)
	if r := l.request; r.Name == "-" && r.Path == "" && bytes.Contains(l.definition, []byte(redact.Mark)) {
		command = "pflow-exec run WORKFLOW --resume " + id
	}
	return command + placeholders(l.given)
}

// placeholders returns the arguments that stand for inputs which have to be given again.
func placeholders(names []string) (arguments string) {
	for _, name := range names {
		arguments += " " + name + "=VALUE"
	}
	return arguments
}
