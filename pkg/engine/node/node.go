// Package node runs the node types, one file each. What they declare about themselves is in pkg/nodetype.
package node

import (
	"context"
	"encoding/json"
	"fmt"
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

// TimeoutError is the cause of a context that ended because of a time limit set in the workflow.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string {
	return "timed out after " + seconds(e.After) + " seconds"
}

// within returns a context that ends after the limit; 0 means no limit. The caller must call the returned function.
func within(ctx context.Context, limit nodetype.Seconds) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, limit.Duration(), &TimeoutError{limit.Duration()})
}

// Host is what all nodes of a run share.
type Host struct {
	// Dir is the run's working directory, an absolute path.
	Dir string
	// Env is the environment of nodes' processes.
	Env []string
	// Suite is the folder in which the suite's programs are looked up before PATH. It may be empty.
	Suite string
	// Servers holds the run's MCP servers.
	Servers *mcpclient.Pool
}

// Task is one attempt at a node.
type Task struct {
	Host
	// Node is the node's id.
	Node string
	// Key is the key of engine.Attempt by which a receiver recognizes a repetition.
	Key string
	// Timeout is the limit that the workflow sets beside the node's parameters, or 0. It replaces the default of the node's type.
	Timeout time.Duration
	// Marks are the entries of Env that identify this node's processes, see process.Command.
	Marks []string
	// Stdout and Stderr receive the output of the node's process as it comes.
	Stdout, Stderr io.Writer
	// Capture returns what collects an output of the node's process. If it is nil, output is held in memory.
	Capture func() Output
	// Scratch returns a file for what is too long for memory. If it is nil, everything is held in memory.
	Scratch func() (event.Scratch, error)
	// Large waits until no other attempt of the run processes a long output in memory. From then on this one may, to its end. It
	// may be nil.
	Large func()
	// StreamLimit is the most bytes that the node's process may write on one stream; 0 means MaxOutput.
	StreamLimit int64
	// Count counts n bytes that the node puts out, before they are stored. It returns how many of them may be stored, and a
	// fault unless all may: the node must end with it. If Count is nil, all may.
	Count func(n int) (allowed int, f *fault.Fault)
	// Secret reports whether a document has a secret of the run. It may be nil.
	Secret func(document json.RawMessage) bool
	// Answer is the answer to the question that the node has asked, or nil.
	Answer *Answer
	// Place returns the place in the workflow file of a byte of a parameter's text. It is nil if the file is unknown.
	Place func(param string, offset int) (file string, line, column int)
	// Progress receives the node's progress; total is 0 if it is unknown. It may be nil.
	Progress func(done, total float64, message string)
	// Used receives a program's use of language models so far, in the form of the output llm_usage. It may be nil.
	Used func(usage json.RawMessage)
}

// Result is how an attempt ended. Outputs is an object of the event stream (see pkg/event). After a failure it holds what
// the node has left behind, and may be nil.
type Result struct {
	Action  string
	Outputs json.RawMessage
	// Fault is set if the node failed.
	Fault *fault.Fault
	// Note says something about a success that its outputs do not show, such as why an exit status is not a failure.
	Note string
	// Warnings say what may be wrong about a success.
	Warnings []string
	// Ask is set if the node asks a person before it can go on. Outputs is what it has until then.
	Ask *Question
	// StoreErr is set if the outputs could not be stored. Outputs is nil then.
	StoreErr error
}

// runners holds the built-in types, except workflow, which the engine runs, and the types that programs run.
var runners = map[string]func(context.Context, *Call, *Task) *Result{
	"code":        runCode,
	"copy-file":   answered(runCopyFile),
	"delete-file": answered(runDeleteFile),
	"echo":        runEcho,
	"http":        runHTTP,
	"move-file":   answered(runMoveFile),
	"read-file":   answered(runReadFile),
	"shell":       runShell,
	"write-file":  answered(runWriteFile),
}

// Run runs a call once. It never panics and never returns nil.
func Run(ctx context.Context, p *Call, t *Task) *Result {
	switch run, builtin := runners[p.kind.Name]; {
	case p.kind.MCP != nil:
		return runTool(ctx, p, t)
	case p.kind.Program != "":
		return runProgram(ctx, p, t)
	case builtin:
		return run(ctx, p, t)
	}
	return failedWithError(fault.New(fault.Execution, "No program is known that runs node type %q", p.kind.Name).
		Then(fault.ByPerson(fmt.Sprintf("Put a program named pflow-node-%s on PATH, and register it", p.kind.Name), "pflow-sync nodes")))
}

// defaultsOf caches the parameters of each built-in type with their default values. These are strings, numbers and booleans,
// so that each copy is independent.
var defaultsOf sync.Map

// decode returns the call's parameters as the type's Go struct, with the defaults for those that are not given.
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

// succeeded is the result of a success. The outputs are marshaled.
func succeeded(outputs any) *Result {
	raw, err := rawjson.Marshal(outputs)
	if err != nil {
		return failed(fault.New(fault.Internal, "the outputs cannot be written as JSON: %v", err), nil)
	}
	return &Result{Action: workflow.ActionDefault, Outputs: raw}
}

// failed is the result of a failure. The outputs are marshaled; they may be nil.
func failed(f *fault.Fault, outputs any) *Result {
	r := &Result{Action: workflow.ActionError, Fault: f}
	if outputs != nil {
		r.Outputs, _ = rawjson.Marshal(outputs)
	}
	return r
}

// failedWithError is the result of a failure whose only output is "error".
func failedWithError(f *fault.Fault) *Result {
	return failed(f, map[string]string{errorKey: f.Message})
}

// shorten returns the beginning of a text for an error message.
func shorten(s string) string { return fault.Truncate(s, 80) }
