package runner

import (
	"os"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcp/source"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// SourceArguments is the only input of the workflow that LoadSource makes. It is an object.
const SourceArguments = "arguments"

// loadSource makes the workflow of one node that executes the workflow of a source with the given name, SOURCE:ID. It reports false
// for the name of any other workflow, and for the path of a file unless nameOnly is set.
func (r *Request) loadSource(host *Host, name string, nameOnly bool) (ok bool, err error) {
	from, id, ok := source.Split(name)
	if !ok {
		return false, nil
	}
	if _, err := os.Stat(name); !nameOnly && err == nil {
		return false, nil
	}
	if _, err := source.Find(host.Home, from); err != nil {
		if !nameOnly && fault.From(err).Type == fault.NotFound && strings.ContainsAny(name, "./") {
			return false, nil // a path that does not exist
		}
		return true, err
	}
	type m = map[string]any
	text, err := rawjson.Marshal(m{
		"inputs":  m{SourceArguments: m{"type": "object", "default": m{}}},
		"nodes":   []m{{"id": "run", "type": nodetype.SourceWorkflowName, "params": m{"source": from, "id": id, "arguments": "${" + SourceArguments + "}"}}},
		"outputs": m{"result": m{"source": "${run.result}"}},
	})
	if err != nil {
		return true, fault.From(err)
	}
	file, _, err := library.Open(host.Home).Open("-", false, r.Dir, func(string, int64) ([]byte, error) { return text, nil })
	if err != nil {
		return true, withoutPlaces(err)
	}
	r.Name, r.File, r.Source, r.file = name, file.Name, text, file
	r.Folder, r.Files = file.Dir, file.Included()
	return true, nil
}

// Uncancellable returns why the cancellation of a run has not cancelled all that the run has begun, or "": a workflow of a source that
// cannot cancel it may go on there.
func Uncancellable(h *home.Home, run string) string {
	rec, err := journal.Find(h, run)
	if err != nil {
		return ""
	}
	first, _, err := rec.FirstAndLast()
	if err != nil || first == nil || first.Workflow == nil || first.Workflow.Path != "" {
		return ""
	}
	from, _, ok := source.Split(first.Workflow.Name)
	if !ok {
		return ""
	}
	if s, err := source.Find(h, from); err != nil || s.Cancel != nil {
		return ""
	}
	return "not supported by the source " + from + ", which has no command cancel: its command was ended, but what that has begun may go on"
}
