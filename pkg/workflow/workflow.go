// Package workflow is the workflow file: its types and its JSON form. It reads from the bytes it is given and does no
// I/O of its own.
package workflow

import (
	"encoding/json"
	"slices"
)

// Workflow is a workflow as its author wrote it.
type Workflow struct {
	IRVersion   string            `json:"ir_version,omitempty"`
	Description string            `json:"description,omitempty"`
	Inputs      map[string]Input  `json:"inputs,omitempty"`
	Nodes       []Node            `json:"nodes"`
	Edges       []Edge            `json:"edges,omitempty"`
	StartNode   string            `json:"start_node,omitempty"`
	Outputs     map[string]Output `json:"outputs,omitempty"`
	// TemplateResolutionMode is "strict" (the default) or "permissive": whether a template that cannot be resolved
	// fails its node or stands there as it was written.
	TemplateResolutionMode string `json:"template_resolution_mode,omitempty"`

	// index is where each id stands in Nodes, in a workflow that was parsed.
	index map[string]int
}

// Node is one step.
type Node struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Purpose string `json:"purpose,omitempty"`
	// Params is the JSON object of the node's parameters, as it stands in the file; {} when there are none.
	Params json.RawMessage `json:"params,omitempty"`
}

// Edge routes from one node to another when the first ends with the action.
type Edge struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Action string `json:"action,omitempty"`
}

// The actions that have a meaning of their own.
const (
	ActionDefault = "default"
	ActionError   = "error"
)

// Input is a value that a run is given.
type Input struct {
	Description string `json:"description,omitempty"`
	// Type is one of string, number, integer, boolean, object, array, any.
	Type     string          `json:"type,omitempty"`
	Required *bool           `json:"required,omitempty"`
	Default  json.RawMessage `json:"default,omitempty"`
	// Stdin says that the input takes what is piped into the run.
	Stdin bool `json:"stdin,omitempty"`
	// Secret says that the value appears in no event, log or report.
	Secret bool `json:"secret,omitempty"`
}

// IsRequired says whether a run must be given the input: not when it is said so, nor when there is a default.
func (i Input) IsRequired() bool {
	if i.Default != nil {
		return false
	}
	return i.Required == nil || *i.Required
}

// Output is a value that a run gives back.
type Output struct {
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"`
	// Source is where the value comes from: ${node.key}, node.key or node.
	Source string `json:"source"`
}

// Permissive says whether unresolved templates stand as they were written.
func (w *Workflow) Permissive() bool { return w.TemplateResolutionMode == "permissive" }

// Node finds a node by its id: the first, where several have it.
func (w *Workflow) Node(id string) (*Node, bool) {
	if i, ok := w.index[id]; ok && i < len(w.Nodes) && w.Nodes[i].ID == id {
		return &w.Nodes[i], true
	}
	i := slices.IndexFunc(w.Nodes, func(n Node) bool { return n.ID == id })
	if i < 0 {
		return nil, false
	}
	return &w.Nodes[i], true
}

// NodeIDs lists the nodes in the order of the file.
func (w *Workflow) NodeIDs() []string {
	ids := make([]string, len(w.Nodes))
	for i, n := range w.Nodes {
		ids[i] = n.ID
	}
	return ids
}
