// Package workflow is the workflow file: its types and both its forms, JSON and Markdown. It reads from the bytes it is
// given and does no I/O of its own.
package workflow

import (
	"encoding/json"
	"slices"
)

// Workflow is a workflow as its author wrote it. The help tags say what each field is for: the JSON Schema and the
// documentation are made of them.
type Workflow struct {
	IRVersion   string            `json:"ir_version,omitempty" help:"the version of the file form, such as 0.1.0"`
	Description string            `json:"description,omitempty" help:"what the workflow is for"`
	Inputs      map[string]Input  `json:"inputs,omitempty" help:"the values that a run is given, by name"`
	Nodes       []Node            `json:"nodes" help:"the steps"`
	Edges       []Edge            `json:"edges,omitempty" help:"which node follows which; without any, nodes are ordered by the templates that read them"`
	StartNode   string            `json:"start_node,omitempty" help:"run this node and what it leads to, and nothing else"`
	Outputs     map[string]Output `json:"outputs,omitempty" help:"the values that a run gives back, by name; without any, what the last nodes put out"`
	// TemplateResolutionMode is "strict" (the default) or "permissive".
	TemplateResolutionMode string `json:"template_resolution_mode,omitempty" help:"strict: a template that leads nowhere fails its node; permissive: it stands as it was written and the run is degraded"`

	// index is where each id stands in Nodes, in a workflow that was parsed.
	index map[string]int
}

// Node is one step.
type Node struct {
	ID      string `json:"id" help:"the name by which templates and edges call the node"`
	Type    string `json:"type" help:"the node type, such as shell; pflow-lib search lists them"`
	Purpose string `json:"purpose,omitempty" help:"what the step is for"`
	// Params is the JSON object of the node's parameters, as it stands in the file; {} when there are none. Its key
	// "inputs" gives names of the node's own to values: its other templates may use them.
	Params   json.RawMessage `json:"params,omitempty" help:"the parameters of the node type; inputs among them gives values names that the node's other templates can use"`
	Batch    *Batch          `json:"batch,omitempty" help:"run the node once for each item of a list"`
	Loop     *Loop           `json:"loop,omitempty" help:"run the node again while or until a condition holds"`
	Retry    *Retry          `json:"retry,omitempty" help:"try the node, or an item of its batch, again when it fails"`
	Timeout  *Timeout        `json:"timeout,omitempty" help:"how long the node may take in all (a duration), or node and attempt apart"`
	Approval *Approval       `json:"approval,omitempty" help:"ask a person before the node runs"`
	Cache    *Cache          `json:"cache,omitempty" help:"take the outputs of an earlier run when nothing that decides about them has changed"`
	// UnsafeTemplates pastes values into a shell node's command as they are, so that they can become code.
	UnsafeTemplates bool `json:"unsafe_templates,omitempty" help:"paste values into a shell command as they are, so that they can become code: only for commands that are put together from trusted values"`
}

// Batch runs a node once for each item of a list.
type Batch struct {
	// Items is a JSON list, or the JSON text of a template that gives one.
	Items         json.RawMessage `json:"items" help:"a list, or a template that gives one"`
	As            string          `json:"as,omitempty" help:"the name of the item in templates, item by default; __index__ is its number from 0"`
	ErrorHandling string          `json:"error_handling,omitempty" help:"fail_fast (the default) fails the node with the first item that fails, continue goes on with the others"`
	Parallel      bool            `json:"parallel,omitempty" help:"run items at the same time"`
	MaxConcurrent int             `json:"max_concurrent,omitempty" help:"how many items run at the same time when parallel, 10 by default, 1 to 100"`
	MaxRetries    int             `json:"max_retries,omitempty" help:"how often an item is tried in all, 1 by default, 1 to 10; retry says more"`
	RetryWait     Duration        `json:"retry_wait,omitempty" help:"how long to wait before an item is tried again"`
}

// Loop runs a node again. Its condition is looked at after each iteration; exactly one of While and Until is set.
type Loop struct {
	While         string                     `json:"while,omitempty" help:"go on while this template is true"`
	Until         string                     `json:"until,omitempty" help:"go on until this template is true"`
	Carry         map[string]json.RawMessage `json:"carry,omitempty" help:"the values that names of the node's inputs have from the second iteration on"`
	MaxIterations int                        `json:"max_iterations,omitempty" help:"the most iterations, 100 by default, 1 to 10000"`
}

// Retry says how a node that failed is tried again.
type Retry struct {
	Max           int      `json:"max" help:"how often to try again after the first attempt, 1 to 100"`
	Wait          Duration `json:"wait,omitempty" help:"how long to wait before the next attempt, 0 by default"`
	Backoff       string   `json:"backoff,omitempty" help:"fixed (the default) waits the same time each time, exponential twice as long each time"`
	MaxWait       Duration `json:"max_wait,omitempty" help:"the longest wait, 60s by default"`
	Jitter        float64  `json:"jitter,omitempty" help:"by which part of itself a wait is changed at random, 0 (the default) to 1"`
	OnlyExitCodes []int    `json:"only_exit_codes,omitempty" help:"try again only after these exit statuses"`
}

// Timeout bounds a node's time. In a file it may be a bare duration, which is that of the node.
type Timeout struct {
	Node    Duration `json:"node,omitempty" help:"for the whole node: all its attempts, waits, items and iterations"`
	Attempt Duration `json:"attempt,omitempty" help:"for each attempt"`
}

// Approval asks a person before a node runs. In a file it may be true or "required".
type Approval struct {
	Question string `json:"question,omitempty" help:"what is asked; templates are resolved"`
	// Choices are the answers that may be given; without any, yes and no. With the answer no the run is denied.
	Choices []string `json:"choices,omitempty" help:"the answers to choose from, yes and no by default; no denies the run; __answer__ is the answer in templates"`
}

// Cache keeps a node's outputs for later runs. In a file it may be true or false; false is no cache at all.
type Cache struct {
	TTL Duration `json:"ttl,omitempty" help:"how long they may be used, 24h by default"`
}

// Edge routes from one node to another when the first ends with the action.
type Edge struct {
	From   string `json:"from" help:"the node before"`
	To     string `json:"to" help:"the node after"`
	Action string `json:"action,omitempty" help:"the action of the node before that takes this edge, default by default; error takes its failure"`
}

// The actions that have a meaning of their own.
const (
	ActionDefault = "default"
	ActionError   = "error"
)

// Input is a value that a run is given.
type Input struct {
	Description string `json:"description,omitempty" help:"what the value is for"`
	// Type is one of string, number, integer, boolean, object, array, any.
	Type     string          `json:"type,omitempty" help:"string, number, integer, boolean, object, array or any (the default)"`
	Required *bool           `json:"required,omitempty" help:"whether a run must be given the value: true by default, and never with a default"`
	Default  json.RawMessage `json:"default,omitempty" help:"the value when none is given"`
	Stdin    bool            `json:"stdin,omitempty" help:"take what is piped into the run"`
	Secret   bool            `json:"secret,omitempty" help:"let the value appear in no event, log or report"`
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
	Description string `json:"description,omitempty" help:"what the value is"`
	Type        string `json:"type,omitempty" help:"what type the value has"`
	// Source is where the value comes from: ${node.key}, node.key or node.
	Source string `json:"source" help:"where the value comes from, such as ${node.key}"`
	Stdout bool   `json:"stdout,omitempty" help:"print this output alone where outputs are printed as text"`
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
