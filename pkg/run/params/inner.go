package params

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Definition returns the definition of a node; nil if the events do not contain the workflow that it is in.
func (r *Reader) Definition(n *history.Node) *workflow.Node {
	return definitionIn(r.WorkflowOf(event.Enclosing(n.Path)), n.Path)
}

func definitionIn(w *workflow.Workflow, path string) *workflow.Node {
	if w == nil {
		return nil
	}
	def, _ := w.Node(path[strings.LastIndexByte(path, '/')+1:])
	return def
}

// WorkflowOf returns the workflow that a node runs; "" is the run's own. It is nil if the events do not contain it.
func (r *Reader) WorkflowOf(path string) *workflow.Workflow {
	if path == "" {
		return r.workflow
	}
	generic := withoutInstances(path)
	w, known := r.inner[generic]
	if !known {
		w = r.readInner(path)
		r.inner[generic] = w
	}
	return w
}

// readInner reads the workflow that a node runs: the one in its parameters, or that of the event of its start.
func (r *Reader) readInner(path string) *workflow.Workflow {
	def := definitionIn(r.WorkflowOf(event.Enclosing(path)), path)
	if def == nil || def.Type != workflow.SubType {
		return nil
	}
	sub, _ := workflow.SubOf(def.Params)
	source := sub.Inline
	if n := r.run.Node(path); source == nil && n != nil {
		source, _ = event.Plain(r.run.Definition(n), r.load)
	}
	if len(source) == 0 {
		return nil
	}
	file, _ := workflow.Read("workflow.json", source) // a workflow with faults is shown too
	if file == nil {
		return nil
	}
	return file.Workflow
}

// withoutInstances returns a path without the items and iterations in it.
func withoutInstances(path string) string {
	segments, ok := event.Segments(path)
	if !ok {
		return path
	}
	var ids []string
	for _, s := range segments {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, "/")
}

// prefixOf returns the part of a node's path that the nodes of the same execution of a workflow have in common: "" for the run's own,
// else such as build[3]/.
func prefixOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }
