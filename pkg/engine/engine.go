// Package engine drives a plan: it runs the nodes that are ready, a limited number at a time, writes an event for everything that happens,
// and keeps what earlier runs did.
//
// A run has five parts. Each uses those after it in this list, and knows nothing of those before it:
//
//   - execution is the run: it holds the lock, begins steps and settles them. run.go has its states; schedule.go says when a step begins,
//     begin.go begins it, settle.go ends it, keep.go asks package resume whether it is kept.
//   - attempts executes what has begun, without the lock.
//   - asker knows the questions to people.
//   - fan puts batches together and decides whether loops go on.
//   - values resolves templates, redacts and stores what nodes put out, and limits it.
//
// The cache of outputs, the budget and the warnings are small parts of their own. Package runner makes the Config: it finds the run to go on from,
// reads the Memory of it, and has it forget what --from, --only and --retry-failed ask for.
//
// The state is in frames, one for each execution of a workflow, and in the nodeRuns of these: frame.go.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/mcp/form"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Journal stores what a run writes. Its methods may be called by several goroutines.
type Journal interface {
	// Append writes an event to the journal and sets its At.
	Append(e *event.Event) error
	// Line returns the line of an event that was appended, by its At.
	Line(at int64) ([]byte, error)
	// PutBlob stores content and returns the reference to it. NewBlob stores content that is written piece by piece.
	PutBlob(content []byte) (ref string, err error)
	NewBlob() (event.Blob, error)
	// NewScratch returns content that only this process can read and that is gone when the run has ended.
	NewScratch() (event.Scratch, error)
	// Blob returns stored content by its reference, and OpenBlob a reader of stored content of size bytes.
	Blob(ref string) ([]byte, error)
	OpenBlob(ref string, size int) (io.ReadCloser, error)
	// Log returns a writer for a node's "stdout" or "stderr".
	Log(node, stream string) io.WriteCloser
}

// Cache stores the outputs of nodes across runs, as plain JSON. Its methods may be called by several goroutines.
type Cache interface {
	// Get returns the outputs stored under a key, the run that stored them, and when, unless they are older than age.
	Get(key string, age time.Duration) (outputs json.RawMessage, run string, at time.Time, ok bool)
	Put(key, run string, outputs json.RawMessage) error
}

// Question is what a person is asked before a node runs.
type Question struct {
	// Node is the node's path.
	Node string
	Text string
	// Choices are the valid answers.
	Choices []string
	// Params are the resolved parameters that the node would run with, without secrets. They are nil if they cannot be resolved
	// before the answer is known.
	Params json.RawMessage
	// AnyAnswer reports whether any other text is an answer too. Then no answer denies the run.
	AnyAnswer bool
	// Form has the fields of the answer, or is nil. The answer is then an object with their values, or one of the choices.
	Form form.Form
	// Person is set if only a person may answer.
	Person bool
	// state is what the node gets back with the answer, as the stream has it, if the node itself asks. secretState is the same
	// with its secrets, if it has any.
	state, secretState json.RawMessage
}

// accepts reports whether a text is an answer.
func (q *Question) accepts(answer string) bool {
	return resume.Accepts(answer, q.Choices, q.AnyAnswer, q.Form)
}

// Answer is an answer that was given before its question is asked.
type Answer struct {
	Text string `json:"text"`
	// By is who gave it, or how it was given.
	By string `json:"by"`
	// Person is set if a person gave it.
	Person bool `json:"person,omitempty"`
}

// Config describes a run. Its workflow has been checked.
type Config struct {
	RunID string
	flow.Flow
	// Started is what run_started says about the workflow.
	Started event.Workflow
	// Inputs are the values of all declared inputs.
	Inputs   map[string]json.RawMessage
	Journal  Journal
	Redactor *redact.Redactor
	Host     node.Host
	// Span is the run's span. Each attempt at a node has a child of it.
	Span trace.Span
	// Load finds, reads and checks a workflow that a node of another one names by a template.
	Load func(from *flow.Flow, ref string) (*flow.Flow, error)
	// Ask asks a person and waits for the answer, one of the choices, and for the name of who gave it. If Ask is nil, the
	// run pauses at a question.
	Ask func(ctx context.Context, q Question) (answer, by string, err error)
	// Answer answers the questions that the resumed run left open or that were answered no. Its text may be empty.
	Answer Answer
	// Answers answers the questions about nodes, by the nodes' paths. A path without the numbers of items and iterations stands
	// for all of them.
	Answers map[string]Answer
	// ByPerson takes answers only from people, as an approval by a person does.
	ByPerson bool
	// Cache serves the nodes that ask for one; it may be nil.
	Cache Cache
	// NoCache runs the nodes with a cache, too. Their outputs are stored in it.
	NoCache bool
	// Jobs is how many nodes may run at the same time; at least 1.
	Jobs int
	// KeepGoing lets nodes that do not depend on a failed one start.
	KeepGoing bool
	// StopOnFailure stops the nodes and items that run beside a failed one, unless an edge takes the failure. Else they finish.
	StopOnFailure bool
	// Timeout ends the run that long after it has been admitted; 0 means no limit.
	Timeout time.Duration
	// Budget is what the run and those that it continues may spend, or nil. A run that has used it up is stopped.
	Budget *event.Budget
	// Memory is what earlier runs did, or nil.
	Memory *resume.Memory
	// Only is the path of the only node to execute, or empty. The run takes all others as Memory has them, which must be set.
	Only string
	// Again is what Memory.Forget has struck out, for run_started, or nil.
	Again *event.Again
	// Adopt copies a long value of the resumed run into the journal, and reports whether it was found. If Adopt is nil,
	// the content comes from Memory.Blob.
	Adopt func(ref event.Reference) (found bool, err error)
	// Reused is called when everything that can be reused is in this run's journal: from then on this run is the one to
	// resume. An error ends the run.
	Reused func() error
	// Admit is called when run_started is recorded, and waits until the run may begin. Its error is the end of ctx, or ends the
	// run. It may be nil.
	Admit func(ctx context.Context) error
	// Stopped is called when a run was stopped early and its nodes have ended, before its last event.
	Stopped func()
	// Given names the secret inputs whose values were given to the run. Origins says for each input where its value is from.
	Given   []string
	Origins map[string]string
	// Marked is set if inputs have the marks that stand for secrets in place of their values. Then the answers must end the run before a
	// node starts. The questions show the parameters that the memory has.
	Marked bool
	// Workflows are the sub-workflows that have a literal name, as run_started records them.
	Workflows []event.Workflow
	// Resume is the step that goes on from the run, if it does not succeed.
	Resume fault.Step
	Log    *slog.Logger

	// Execute executes an attempt at a node and returns how it ended. It may be called by several goroutines. If Execute is
	// nil, attempts run on this machine: see Local.
	Execute func(ctx context.Context, a Attempt) Result

	// Runners are the command lines of the runners that nodes name, by their names.
	Runners map[string]string

	// Now, AfterFunc and Rand are the time and the randomness of the run; nil means time.Now, time.AfterFunc and the
	// generator of math/rand/v2. With others a test replays a run to the byte, and need not wait. They do not reach the
	// nodes themselves.
	Now func() time.Time
	// AfterFunc calls f after d, on a goroutine of its own, unless stop is called before.
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
	// Rand returns uniformly distributed random bits.
	Rand func() uint64
}

// ErrTimeout is the cause of a run's context that was cancelled by Config.Timeout.
var ErrTimeout = errors.New("the run timed out")

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
