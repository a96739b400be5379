// Package workflow defines the workflow file: its types, and its two forms, JSON and Markdown. The package does no I/O.
package workflow

import (
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Workflow is a workflow as its author wrote it. The help tags describe the fields in the JSON Schema and the documentation.
type Workflow struct {
	Schema      string   `json:"$schema,omitempty" help:"the JSON Schema of the file, for editors; it has no other effect"`
	IRVersion   string   `json:"ir_version,omitempty" help:"the version of the file form, such as 0.1.0"`
	Description string   `json:"description,omitempty" help:"what the workflow is for"`
	Category    string   `json:"category,omitempty" help:"the kind of the workflow, such as report, by which a server can choose the workflows that it offers as tools; workflow by default"`
	Tags        []string `json:"tags,omitempty" help:"words, such as tool, by which a server can choose the workflows that it offers as tools"`
	// ExecutionType is "sync", "async" or empty, which means async.
	ExecutionType string            `json:"executionType,omitempty" help:"sync: a tool call waits for the end of the run; async (the default): it answers after a while, and the run goes on"`
	Inputs        map[string]Input  `json:"inputs,omitempty" help:"the inputs of a run, by name"`
	Nodes         []Node            `json:"nodes" help:"the steps"`
	Edges         []Edge            `json:"edges,omitempty" help:"which node follows which; without edges, a node follows the nodes that its templates read, or the list if code names the next node"`
	StartNode     string            `json:"start_node,omitempty" help:"run only this node and the nodes that it leads to"`
	Outputs       map[string]Output `json:"outputs,omitempty" help:"the results of a run, by name; without outputs, the outputs of the last nodes"`
	// TemplateResolutionMode is "strict" (the default) or "permissive".
	TemplateResolutionMode string   `json:"template_resolution_mode,omitempty" help:"strict: an unresolved template fails its node; permissive: it stays as it was written and the run is degraded"`
	Runtime                *Runtime `json:"runtime,omitempty" help:"limits of a run, and its exit status when it is degraded"`
	Budget                 *Budget  `json:"budget,omitempty" help:"what a run, with the runs that it continues, may spend: when it is used up, the run is stopped in order"`

	// RunsOn is where its nodes run that do not say so themselves, or empty.
	RunsOn string `json:"runs_on,omitempty" help:"where nodes run that have no runs_on of their own: the name of a runner in settings.json; local, the default, is this machine"`

	// index maps ids to indexes of Nodes. It is nil in a workflow that was not parsed.
	index map[string]int
}

// Runtime has the limits of a run, whether it fails when it is degraded, and what it does after a failure.
type Runtime struct {
	MaxOutput rawjson.Bytes `json:"max_output,omitempty" help:"how much the nodes of a run may put out: a number of bytes, or text such as 30MB; by default 2 GiB, and 128 MiB for what one command prints"`
	// FailDegraded is nil if the file does not have it.
	FailDegraded *bool `json:"fail_degraded,omitempty" help:"give a degraded run the exit status 1 instead of 0"`
	// OnFailure is FinishOnFailure, StopOnFailure, or empty.
	OnFailure string `json:"on_failure,omitempty" help:"what happens to running nodes and items after a failure that no edge of its own workflow takes: finish (the default) lets them finish, stop stops them"`
}

// What a run does with its running nodes after a failure.
const (
	FinishOnFailure = "finish"
	StopOnFailure   = "stop"
)

// Budget is what a run may spend. A field that is 0 limits nothing.
type Budget struct {
	USD     float64 `json:"usd,omitempty" help:"dollars, as nodes report the cost of language models and agents"`
	Tokens  int     `json:"tokens,omitempty" help:"tokens of language models, in and out"`
	Minutes float64 `json:"minutes,omitempty" help:"minutes in which the run executes"`
}

// Node is one step.
type Node struct {
	ID      string `json:"id" help:"the name of the node in templates and edges"`
	Type    string `json:"type" help:"the node type, such as shell"`
	Purpose string `json:"purpose,omitempty" help:"what the step is for"`
	// Params is the JSON object of the node's parameters as in the file, or {}. Its key "inputs" gives values local names that
	// the node's other templates can use.
	Params   json.RawMessage `json:"params,omitempty" help:"the parameters of the node type; the parameter inputs gives values local names that the node's other templates can use"`
	Batch    *Batch          `json:"batch,omitempty" help:"run the node once for each item of a list"`
	Loop     *Loop           `json:"loop,omitempty" help:"run the node again while or until a condition holds"`
	Retry    *Retry          `json:"retry,omitempty" help:"retry the node, or an item of its batch, when it fails"`
	Timeout  *Timeout        `json:"timeout,omitempty" help:"how long the node may take in all (a duration), or limits for node and attempt; replaces the default of its type"`
	Approval *Approval       `json:"approval,omitempty" help:"ask a person before the node runs"`
	Cache    *Cache          `json:"cache,omitempty" help:"reuse the outputs of an earlier run if nothing that they depend on has changed"`
	RunsOn   string          `json:"runs_on,omitempty" help:"the name of the runner that runs the node, of those in settings.json; local is this machine"`
	// Idempotent allows one more attempt if it is not known whether the node has done its work.
	Idempotent bool `json:"idempotent,omitempty" help:"the node may run twice: an attempt whose end is not known, because a runner was lost, is made once more"`
	// UnsafeTemplates pastes values into a shell node's command without quoting, so that they can become code.
	UnsafeTemplates bool `json:"unsafe_templates,omitempty" help:"paste values into a shell command without quoting, so that they can become code: only for trusted values"`
}

// Batch runs a node once for each item of a list.
type Batch struct {
	// Items is a JSON list, or the JSON string of a template that resolves to one.
	Items         json.RawMessage `json:"items" help:"a list, or a template that resolves to one"`
	As            string          `json:"as,omitempty" help:"the name of the item in templates, item by default; __index__ is its index from 0"`
	ErrorHandling string          `json:"error_handling,omitempty" help:"fail_fast (the default) fails the node at the first item that fails, continue runs the other items"`
	Parallel      bool            `json:"parallel,omitempty" help:"run items at the same time"`
	MaxConcurrent int             `json:"max_concurrent,omitempty" help:"with parallel, how many items run at the same time, 1 to 100, 10 by default"`
	MaxRetries    int             `json:"max_retries,omitempty" help:"how many attempts an item has in all, 1 to 10, 1 by default; retry has more settings"`
	RetryWait     Duration        `json:"retry_wait,omitempty" help:"how long to wait before the next attempt of an item"`
}

// Loop runs a node repeatedly. Its condition is evaluated after each iteration. Exactly one of While and Until is set. MaxIterations
// is the JSON of a number, Wait and MaxWait of a duration, and Backoff of a word; each may be the text of a template instead. Wait,
// Backoff and MaxWait are empty if the file does not have them.
type Loop struct {
	While         string                     `json:"while,omitempty" help:"repeat while this template is true"`
	Until         string                     `json:"until,omitempty" help:"repeat until this template is true"`
	Carry         map[string]json.RawMessage `json:"carry,omitempty" help:"the values of the node's inputs from the second iteration on, by name"`
	MaxIterations json.RawMessage            `json:"max_iterations,omitempty" help:"the most iterations, 1 to 10000, or a template; 100 by default"`
	Wait          json.RawMessage            `json:"wait,omitempty" help:"how long to wait before the next iteration (a duration or a template), 0 by default"`
	Backoff       json.RawMessage            `json:"backoff,omitempty" help:"fixed (the default) waits the same time each time, exponential doubles it each time; or a template"`
	MaxWait       json.RawMessage            `json:"max_wait,omitempty" help:"the longest wait (a duration or a template), 60s by default"`
}

// Retry retries a node that failed.
type Retry struct {
	Max           int      `json:"max" help:"how many attempts there are in all, 1 to 100"`
	Wait          Duration `json:"wait,omitempty" help:"how long to wait before the next attempt, 0 by default"`
	Backoff       string   `json:"backoff,omitempty" help:"fixed (the default) waits the same time each time, exponential doubles it each time"`
	MaxWait       Duration `json:"max_wait,omitempty" help:"the longest wait, 60s by default"`
	Jitter        float64  `json:"jitter,omitempty" help:"the fraction of a wait by which it is changed at random, 0 (the default) to 1"`
	OnlyExitCodes []int    `json:"only_exit_codes,omitempty" help:"retry only after these exit statuses"`
}

// Timeout bounds the time of a node. In a file it may be a duration, which is the limit of the node. It replaces the limit that
// the node's type has by default, and so does the parameter timeout, which is the limit of an attempt.
type Timeout struct {
	Node    Duration `json:"node,omitempty" help:"for the whole node: all its attempts, waits, items and iterations"`
	Attempt Duration `json:"attempt,omitempty" help:"for each attempt at the node, an item of its batch or an iteration of its loop, as the parameter timeout"`
}

// Approval asks a person before a node runs. In a file it may be true or "required".
type Approval struct {
	Question string `json:"question,omitempty" help:"what is asked; templates are resolved"`
	// Choices lists the possible answers. If it is empty, they are yes and no. The answer no denies the run.
	Choices []string `json:"choices,omitempty" help:"the answers to choose from, yes and no by default; no denies the run; __answer__ is the answer in templates"`
	// By is ByPerson, or empty.
	By string `json:"by,omitempty" help:"who may answer: anyone by default; person takes no answer from a program, such as an agent"`
}

// ByPerson is the value of Approval.By with which no program answers, such as an agent.
const ByPerson = "person"

// Cache keeps a node's outputs for later runs. In a file it may be true or false, which means no cache.
type Cache struct {
	TTL Duration `json:"ttl,omitempty" help:"how long outputs may be reused, 24h by default"`
}

// Edge leads from a node that ends with the action to another node.
type Edge struct {
	From   string `json:"from" help:"the node that the edge starts at"`
	To     string `json:"to" help:"the node that the edge leads to, or end to end the branch"`
	Action string `json:"action,omitempty" help:"the action of the first node with which the edge is taken, default by default; error is its failure"`
}

// The actions with a special meaning.
const (
	ActionDefault = "default"
	ActionError   = "error"
)

// Input declares an input of a run.
type Input struct {
	Description string `json:"description,omitempty" help:"what the value is for"`
	// Type is one of string, number, integer, boolean, object, array, any.
	Type     string          `json:"type,omitempty" help:"string, number, integer, boolean, object, array or any (the default)"`
	Required *bool           `json:"required,omitempty" help:"whether a run needs the value: true by default, and always false with a default"`
	Default  json.RawMessage `json:"default,omitempty" help:"the value if none is given"`
	Stdin    bool            `json:"stdin,omitempty" help:"take the value from standard input"`
	Secret   bool            `json:"secret,omitempty" help:"keep the value out of events, logs and reports"`
}

// IsRequired reports whether a run needs the input: it has no default, and required is not false.
func (i Input) IsRequired() bool {
	if i.Default != nil {
		return false
	}
	return i.Required == nil || *i.Required
}

// Output declares a result of a run.
type Output struct {
	Description string `json:"description,omitempty" help:"what the value is"`
	Type        string `json:"type,omitempty" help:"string, number, integer, boolean, object, array or any (the default); the value is converted to it"`
	// Source is the place that the value comes from: ${node.key}, node.key or node.
	Source string `json:"source" help:"where the value comes from, such as ${node.key}"`
	Stdout bool   `json:"stdout,omitempty" help:"print only this output if outputs are printed as text"`
}

// Permissive reports whether unresolved templates stay as they were written.
func (w *Workflow) Permissive() bool { return w.TemplateResolutionMode == "permissive" }

// Node returns the first node with the given id; the result is false if no node has it.
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

// NodeIDs lists the ids of the nodes in the order of the file.
func (w *Workflow) NodeIDs() []string {
	ids := make([]string, len(w.Nodes))
	for i, n := range w.Nodes {
		ids[i] = n.ID
	}
	return ids
}
