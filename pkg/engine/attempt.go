package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

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

// The variables that the engine adds to the environment of a node's processes. RunVariable finds processes that have left
// their process group. All of them together are unique to one attempt.
const (
	RunVariable       = "PFLOW_RUN_ID"
	NodeVariable      = "PFLOW_NODE_ID"
	KeyVariable       = "PFLOW_NODE_KEY"
	FolderVariable    = "PFLOW_WORKFLOW_DIR"
	AttemptVariable   = "PFLOW_ATTEMPT"
	ItemVariable      = "PFLOW_ITEM"
	IterationVariable = "PFLOW_ITERATION"
)

// Variables lists all of them. What a node starts detached is not part of the attempt and does without them; chain.Variable stays.
var Variables = []string{RunVariable, NodeVariable, KeyVariable, FolderVariable, AttemptVariable, ItemVariable, IterationVariable}

// attempts executes tasks. It is the one part of a run that several goroutines use at the same time, without the lock: it
// reads the task, and touches no state of the run.
type attempts struct {
	runID string
	// firstRun is the id of the run that the chain of resumes began with: runID, unless this run resumes another.
	firstRun string
	// from is what earlier runs did, or nil.
	from *resume.Memory
	// runCtx is the context of the run.
	runCtx context.Context
	// dir and env are the working directory and the environment of the run.
	dir     string
	env     []string
	execute func(ctx context.Context, a Attempt) Result
	store   *store
	output  *outputLimit
	// large is held by the attempt that processes a long output in memory.
	large    sync.Mutex
	spending *spending
	// runners are the command lines of runners by their names.
	runners map[string]string
	clock   *clock
	log     *slog.Logger
}

// run executes a task.
func (a *attempts) run(t *task) *result {
	path := t.run.path()
	stdout, stderr := a.nodeLog(t, path, "stdout"), a.nodeLog(t, path, "stderr")
	marks := a.marks(t, path)
	key := nodeKey(a.firstRun, path, t.step, t.bound.key, a.from.Reruns(path))
	ctx, cancel := t.attemptContext(a.clock)
	defer cancel()
	turn := turn{of: &a.large}
	defer turn.end()
	done := a.execute(ctx, Attempt{
		RunID: a.runID, Node: path, Key: key, Number: t.step.Attempt, Item: t.step.Item, Iteration: t.step.Iteration,
		Type: t.run.kind, Call: t.bound.Call, Runner: t.runner(a.runners), Timeout: t.timeLeft(a.clock.now()),
		Dir: a.dir, Env: append(slices.Concat(a.env, marks), KeyVariable+"="+key, FolderVariable+"="+t.folder(a.dir), trace.Variable+"="+t.span.String()), Marks: marks,
		Stdout: stdout, Stderr: stderr, Capture: a.capture,
		Scratch: a.store.journal.NewScratch, Large: turn.take, StreamLimit: a.output.stream, Count: a.output.attempt(),
		Progress: a.progress(path, t.step), Used: func(usage json.RawMessage) { a.spending.used(t, usage) }, Secret: a.secret, Place: t.place(), Answer: t.run.reply,
	})
	if ctx.Err() != nil && a.runCtx.Err() == nil && done.Fault != nil && done.Fault.Type != fault.Timeout {
		done.Fault = timeoutFault(ctx)
	}
	for _, w := range []io.Closer{stdout, stderr} {
		if err := w.Close(); err != nil {
			a.log.Warn("a node's log is incomplete", "node", path, "error", err)
		}
	}
	if done.Fault != nil && (stdout.printed || stderr.printed) {
		done.Fault.Then(fault.Step{Do: fault.DoLogs, Run: a.runID, Node: path})
	}
	done.Action = a.store.redactor.Text(cmp.Or(done.Action, workflow.ActionDefault)) // a node may choose any text
	r := &result{task: t, node: &done, err: done.StoreErr}
	if done.Outputs != nil {
		r.kept, r.redacted, r.err = a.store.keep(done.Outputs)
	}
	if n := len(done.Outputs); r.err == nil && (n > longOutputs || r.redacted && n > event.InlineLimit) {
		r.err = a.unload(r)
	}
	return r
}

// unload takes the outputs of a result out of memory: what is written stands for them, or a private value if they have secrets.
func (a *attempts) unload(r *result) (err error) {
	whole := r.node.Outputs
	r.usage = with(json.RawMessage("{}"), "llm_usage", []byte(cmp.Or(gjson.GetBytes(whole, "llm_usage").Raw, "null")))
	if r.node.Outputs = r.kept; r.redacted {
		r.node.Outputs, err = a.store.private.hide(whole, r.kept)
	}
	return err
}

// turn is an attempt's turn to process a long output in memory.
type turn struct {
	of   *sync.Mutex
	mine bool
}

// take waits for the turn, unless it has come already.
func (t *turn) take() {
	if !t.mine {
		t.of.Lock()
		t.mine = true
	}
}

func (t *turn) end() {
	if t.mine {
		t.of.Unlock()
	}
}

// marks returns the variables that are unique to an attempt.
func (a *attempts) marks(t *task, path string) []string {
	marks := []string{RunVariable + "=" + a.runID, NodeVariable + "=" + path, AttemptVariable + "=" + strconv.Itoa(t.step.Attempt)}
	if t.step.Item >= 0 {
		marks = append(marks, ItemVariable+"="+strconv.Itoa(t.step.Item))
	}
	if t.step.Iteration > 0 {
		marks = append(marks, IterationVariable+"="+strconv.Itoa(t.step.Iteration))
	}
	return marks
}

// place returns a function that locates a parameter's text in the workflow's file, or nil if there is no file.
func (t *task) place() func(param string, offset int) (file string, line, column int) {
	fr := t.run.frame
	if fr.File == nil {
		return nil
	}
	return func(param string, offset int) (string, int, int) {
		i := slices.IndexFunc(fr.Workflow.Nodes, func(n workflow.Node) bool { return n.ID == t.run.id() })
		return fr.File.PlaceIn(fmt.Sprintf("nodes[%d].params.%s", i, param), offset)
	}
}

// folder returns the folder that the paths in the task's workflow start from; dir is the working directory of the run.
func (t *task) folder(dir string) string {
	if fr := t.run.frame; fr.File != nil && fr.File.Dir != "" {
		return fr.File.Dir
	}
	return dir
}

// capture returns a buffer for the output of a node's process.
func (a *attempts) capture() node.Output {
	redactor := a.store.redactor
	return &event.Capture{
		New: a.store.journal.NewBlob, NewPrivate: a.store.private.capture,
		Redact: func(w io.Writer) event.Redacting { return redactor.Writer(w) },
	}
}

// secret reports whether a document has a secret.
func (a *attempts) secret(document json.RawMessage) bool {
	_, found := a.store.redactor.JSON(document)
	return found
}

// maxMessage is the most bytes of a node's progress message.
const maxMessage = 1000

// progressInterval is the least time between two progress events of a node.
const progressInterval = 250 * time.Millisecond

// progress returns a function that writes a node's progress into the journal.
func (a *attempts) progress(path string, step plan.Step) func(done, total float64, message string) {
	var mu sync.Mutex
	var last time.Time
	return func(done, total float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		now := a.clock.now()
		if now.Sub(last) < progressInterval {
			return
		}
		last = now
		// The node's last event shows a journal that cannot be written too.
		_ = a.store.journal.Append(&event.Event{
			Event: event.NodeProgress, Node: path, Iteration: step.Iteration, Item: itemOf(step), Done: done, Total: total,
			Message: fault.Truncate(a.store.redactor.Text(message), maxMessage),
		})
	}
}

func itemOf(step plan.Step) *int {
	if step.Item < 0 {
		return nil
	}
	return &step.Item
}

// nodeLog stores what a node prints, without secrets. Errors of storing do not stop the node: Close returns them.
type nodeLog struct {
	clean io.WriteCloser
	lines *wholeLines
	file  io.Closer
	err   error
	// printed is set when something was written.
	printed bool
}

// nodeLog returns the log of a task's stdout or stderr. The items of a batch write whole lines, for they share a log.
func (a *attempts) nodeLog(t *task, path, stream string) *nodeLog {
	file := a.store.journal.Log(path, stream)
	l := &nodeLog{file: file}
	l.clean = a.store.redactor.Writer(file)
	if t.step.Item >= 0 {
		l.lines = &wholeLines{to: file}
		l.clean = a.store.redactor.Writer(l.lines)
	}
	return l
}

// Write never fails.
func (l *nodeLog) Write(p []byte) (int, error) {
	l.printed = l.printed || len(p) > 0
	if l.err == nil {
		_, l.err = l.clean.Write(p)
	}
	return len(p), nil
}

// Close returns the first error that occurred.
func (l *nodeLog) Close() error {
	if l.err == nil {
		l.err = l.clean.Close()
	}
	if l.err == nil && l.lines != nil {
		l.err = l.lines.end()
	}
	return errors.Join(l.err, l.file.Close())
}

// wholeLines passes on whole lines, except very long ones.
type wholeLines struct {
	to   io.Writer
	rest []byte
}

// longLine is the length from which a line is passed on in pieces.
const longLine = 64 << 10

// Write passes on the whole lines that have come so far.
func (l *wholeLines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	end := bytes.LastIndexByte(l.rest, '\n') + 1
	if end == 0 && len(l.rest) >= longLine {
		end = len(l.rest)
	}
	if end == 0 {
		return len(p), nil
	}
	_, err := l.to.Write(l.rest[:end])
	l.rest = append(l.rest[:0], l.rest[end:]...)
	return len(p), err
}

// end passes on the last line, with a newline.
func (l *wholeLines) end() error {
	if len(l.rest) == 0 {
		return nil
	}
	_, err := l.to.Write(append(l.rest, '\n'))
	return err
}

// runner returns where the attempt is executed, or nil for this machine. An attempt whose end is not known is repeated at once only
// if the node has no policy of its own for that.
func (t *task) runner(commands map[string]string) *node.Runner {
	name := t.run.runsOn()
	if name == "" {
		return nil
	}
	return &node.Runner{Name: name, Command: commands[name], Again: t.run.node.Idempotent && plan.Policy(t.run.node) == nil}
}
