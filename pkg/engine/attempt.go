package engine

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Attempt is one attempt at a node, or at an item of its batch, with all that is needed to execute it. It consists of data,
// which can be sent to another machine, and of callbacks, which take what is known before the attempt ends. The context that
// comes with it ends when the attempt must: by a timeout, or because the run stops.
type Attempt struct {
	// RunID is the id of the run, Node the path of the node in it.
	RunID, Node string
	// Key is the same for all attempts at the node, item or iteration with the same parameters, in the run and in all runs
	// that resume it. A receiver recognizes a repetition by it.
	Key string
	// Number counts the attempts at the node or item, from 1.
	Number int
	// Item is the index of the batch's item, or -1.
	Item int
	// Iteration is the iteration of the node's loop, from 1, or 0.
	Iteration int

	// Type is the node's type.
	Type nodetype.Type
	// Call is the node with its parameters resolved: they are in Call.Params, and Call.Shell has the command of a shell node.
	Call *node.Call
	// Runner is where the attempt is executed, or nil for this machine.
	Runner *node.Runner
	// Answer is the answer to the question that the node has asked, or nil.
	Answer *node.Answer
	// Timeout is the longest that the attempt may take by the node's timeout, which replaces the default of its type. It is 0
	// if the node has no timeout, or if its type declares the parameter timeout.
	Timeout time.Duration
	// Dir is the run's working directory, an absolute path.
	Dir string
	// Env is the environment of the node's processes. Marks are the variables in it that only this attempt's processes have.
	Env, Marks []string

	// Stdout and Stderr take what the node prints. It is stored without secrets.
	Stdout, Stderr io.Writer
	// Capture returns a buffer for a long output that becomes a value of the stream.
	Capture func() node.Output
	// Scratch returns a file for what is too long for memory. Large waits until no other attempt of the run processes a long
	// output in memory; from then on this one may, to its end.
	Scratch func() (event.Scratch, error)
	Large   func()
	// StreamLimit is the most bytes that the node's process may write on one stream. Count counts n bytes that the node puts
	// out, before they are stored. It returns how many of them may be stored, and a fault unless all may.
	StreamLimit int64
	Count       func(n int) (allowed int, f *fault.Fault)
	// Progress takes how far the node is. total is 0 if it is unknown, message may be empty.
	Progress func(done, total float64, message string)
	// Used takes the use of language models so far, in the form of the output llm_usage.
	Used func(usage json.RawMessage)
	// Secret reports whether a document, such as one for a runner, has a secret of the run. It may be nil.
	Secret func(document json.RawMessage) bool
	// Place locates the byte at an offset of a parameter's text in the workflow's file. It is nil if the file is unknown.
	Place func(param string, offset int) (file string, line, column int)
}

// Result is how an attempt ended. Its Action is "default", which may be left empty, "error", or another one that the node's
// type declares. Its Outputs are an object of the event stream (see package event), which a failed attempt may have too.
type Result = node.Result

// Local returns the executor that runs attempts on this machine, with the node types of pkg/engine/node, or passes them to their
// runners. Of the host it uses
// the folder of the suite's programs and the MCP servers.
func Local(host node.Host) func(ctx context.Context, a Attempt) Result {
	return func(ctx context.Context, a Attempt) Result {
		at := host
		at.Dir, at.Env = a.Dir, a.Env
		t := &node.Task{
			Host: at, Node: a.Node, Key: a.Key, Timeout: a.Timeout, Marks: a.Marks, Stdout: a.Stdout, Stderr: a.Stderr, Capture: a.Capture,
			Scratch: a.Scratch, Large: a.Large, StreamLimit: a.StreamLimit, Count: a.Count, Place: a.Place, Progress: a.Progress, Used: a.Used, Secret: a.Secret, Answer: a.Answer,
		}
		if a.Runner != nil {
			return *node.RunOn(ctx, a.Runner, a.Call, t)
		}
		return *node.Run(ctx, a.Call, t)
	}
}
