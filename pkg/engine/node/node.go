// Package node is what the node types do, one file each. What they say of themselves is in pkg/nodetype.
package node

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// TimeoutError is the cause of a context whose time is over because of a limit that the node's author set.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string {
	return "timed out after " + seconds(e.After) + " seconds"
}

// Host is what a run gives all its nodes.
type Host struct {
	// Dir is the run's working directory, absolute.
	Dir string
	// Env is the environment that nodes' processes get.
	Env []string
	// Suite is the folder in which the programs of the suite are looked for first.
	Suite string
	// Servers holds the MCP servers of the run.
	Servers *mcpclient.Pool
}

// Task is one attempt at a node.
type Task struct {
	Host
	// Node is the node's id.
	Node string
	// Marks are the variables in Env that no other node's processes have: by them those are found that leave their group.
	Marks []string
	// Stdout and Stderr take what the node's process says, as it comes.
	Stdout, Stderr io.Writer
	// Capture makes what a process's output is collected in; by default that is held in memory.
	Capture func() *event.Capture
	// Place tells where in the workflow's file a byte of the text of a parameter stands; nil where that is not known.
	Place func(param string, offset int) (file string, line, column int)
	// Progress takes how far the node is; total is 0 when it is not known.
	Progress func(done, total float64, message string)
}

// Result is how a node ended. Outputs is an object of the event stream (see pkg/event), present also after a failure
// that left something behind.
type Result struct {
	Action  string
	Outputs json.RawMessage
	// Fault is set when the node failed.
	Fault *fault.Fault
	// StoreErr is set when the outputs could not be kept: then there are none.
	StoreErr error
}

// runners run the built-in types, but for those that a program runs and for workflow, which the engine does.
var runners = map[string]func(context.Context, *Call, *Task) *Result{
	"code":        runCode,
	"copy-file":   runCopyFile,
	"delete-file": runDeleteFile,
	"echo":        runEcho,
	"http":        runHTTP,
	"move-file":   runMoveFile,
	"read-file":   runReadFile,
	"shell":       runShell,
	"write-file":  runWriteFile,
}

// Run executes a prepared node once. It never panics and always gives a result; a fault in it says what to do next.
func Run(ctx context.Context, p *Call, t *Task) *Result {
	switch run, builtin := runners[p.kind.Name]; {
	case p.kind.MCP != nil:
		return runTool(ctx, p, t)
	case p.kind.Program != "":
		return runProgram(ctx, p, t)
	case builtin:
		return run(ctx, p, t)
	}
	return broken(fault.New(fault.Execution, "Nothing is known that runs node type %q", p.kind.Name).
		Suggest("A program pflow-node-%s on PATH runs it once it is made known with: pflow-sync nodes", p.kind.Name))
}

// defaultsOf keeps each built-in type's Go form with its defaults, which are the same for all its nodes. They are texts,
// numbers, true and false, so that a copy has nothing in common with it.
var defaultsOf sync.Map

// decode reads the parameters into the type's Go form, with the defaults for what was not given.
func decode[T any](p *Call) (T, *fault.Fault) {
	defaults, ok := defaultsOf.Load(p.kind.Name)
	if !ok {
		var v T
		if err := json.Unmarshal(p.kind.Defaults(), &v); err != nil {
			return v, fault.New(fault.Internal, "the defaults of type %s: %v", p.kind.Name, err)
		}
		defaults, _ = defaultsOf.LoadOrStore(p.kind.Name, v)
	}
	v, _ := defaults.(T)
	err := nodetype.Decode(p.Params, &v)
	return v, fault.From(err)
}

// completed is a success with the outputs of the type's Go form.
func completed(outputs any) *Result {
	raw, err := rawjson.Marshal(outputs)
	if err != nil {
		return failed(fault.New(fault.Internal, "the outputs are no JSON: %v", err), nil)
	}
	return &Result{Action: workflow.ActionDefault, Outputs: raw}
}

// failed is a failure, with what outputs there are.
func failed(f *fault.Fault, outputs any) *Result {
	r := &Result{Action: workflow.ActionError, Fault: f}
	if outputs != nil {
		r.Outputs, _ = rawjson.Marshal(outputs)
	}
	return r
}

// excerpt is the beginning of a text that may be long.
func excerpt(s string) string { return fault.Truncate(s, 80) }
