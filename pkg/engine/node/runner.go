package node

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// Runner is where a node runs: a command line that gets the attempt on its standard input and passes it to pflow-exec node, on
// this machine or another.
type Runner struct {
	Name string
	// Command is a line for sh -c.
	Command string
	// Again is set if an attempt whose end is not known may be made once more.
	Again bool
}

// lateReply is how long the reply of a runner is waited for after the time of the attempt is over: the other end keeps the limit
// too, and knows what the node has put out until then.
const lateReply = 2 * time.Second

// RunOn runs a call once, by a runner. It never panics and never returns nil.
//
// The reply may not come, because a connection is lost. Then it is not known whether the node has done its work. If the runner
// allows it, RunOn tries again once.
func RunOn(ctx context.Context, r *Runner, p *Call, t *Task) *Result {
	result, lost := r.try(ctx, p, t)
	if lost && r.Again && ctx.Err() == nil {
		result, _ = r.try(ctx, p, t)
	}
	return result
}

// try runs a call once. lost is true if its end is not known.
func (r *Runner) try(ctx context.Context, p *Call, t *Task) (result *Result, lost bool) {
	request, err := p.request(t)
	if err != nil {
		return failedWithError(fault.New(fault.Internal, "the request to the runner %s cannot be written: %v", r.Name, err)), false
	}
	ctx, stop := r.within(ctx)
	defer stop(nil)
	ended := make(chan struct{})
	defer close(ended)
	from := &remote{task: t, stop: stop, stderr: runnerStderr{t.Stderr}}
	stdout := &programStdout{progress: t.Progress, used: t.Used, log: from.log, object: spool{task: t}}
	printed, stderr := &bounded{to: stdout, left: maxReply, stop: stop}, process.NewTail(maxTail)
	exit, err := process.Run(ctx, process.Command{
		Path: "/bin/sh", Args: []string{"-c", r.Command}, Dir: t.Dir, Env: t.Env, Marks: t.Marks, Stdin: &heldInput{bytes.NewReader(request), ended},
		Stdout: printed, Stderr: io.MultiWriter(&from.stderr, stderr),
	})
	if f := cmp.Or(from.fault, printed.over); f != nil {
		stdout.object.discard()
		return failedWithError(f), false
	}
	text, textErr := stdout.text()
	if textErr != nil {
		return &Result{StoreErr: textErr}, false
	}
	if reply, ok := readReply(text); ok {
		return from.end(p, reply), false
	}
	if err != nil {
		return failedWithError(p.startFault(r.Name, err)), false
	}
	return failedWithError(r.lost(exit, tailText([]byte(stderr.String())), text)), true
}

// within returns the context of the runner, which outlasts the time of the attempt a little.
func (r *Runner) within(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	own, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if _, late := errors.AsType[*TimeoutError](cause); late {
			timer := time.NewTimer(lateReply)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-own.Done():
			}
		}
		stop(cause)
	})
	return own, stop
}

// lost returns the fault of an attempt whose end is not known.
func (r *Runner) lost(exit process.Exit, stderr string, text []byte) *fault.Fault {
	how := "ended without outputs"
	if exit.Signal != "" {
		how = "was ended by signal " + exit.Signal
	}
	f := fault.New(fault.Unavailable, "The runner %s %s (exit status %d), so it is not known whether the node has done its work", r.Name, how, exit.Code)
	if stderr == "" && len(text) > 0 {
		stderr = shortenBytes(text, maxTail)
	}
	if stderr != "" {
		f.Message += ": " + stderr
	}
	f.Detail("runner", r.Name)
	return f.Suggest(`If the node may run twice, give it a "retry", or "idempotent": true for one more attempt`).
		SuggestCommand("Check that the command of the runner starts pflow-exec node: %s", shorten(r.Command)).
		SuggestTool("A person checks the command of the runner in settings.json")
}

// readReply returns the document at the end of a runner's output. ok is false if it is not one.
func readReply(text []byte) (reply *Reply, ok bool) {
	if len(text) == 0 || text[0] != '{' || !gjson.ValidBytes(text) {
		return nil, false
	}
	var r Reply
	if json.Unmarshal(text, &r) != nil || r.Action == "" {
		return nil, false
	}
	if bytes.Equal(r.Outputs, []byte("null")) {
		r.Outputs = nil
	}
	return &r, true
}

// remote is what comes from the other end of a runner.
type remote struct {
	task *Task
	stop func(error)
	// stderr passes on what the runner itself says.
	stderr runnerStderr
	// logged is how many bytes of output have come, fault that of too many.
	logged int
	fault  *fault.Fault
}

// log takes a piece of what a process of the node has written.
func (r *remote) log(stream string, b []byte) {
	if r.fault != nil {
		return
	}
	allowed, f := r.task.count(len(b))
	to := r.task.Stdout
	if stream == "stderr" {
		to = r.task.Stderr
	}
	if r.logged += allowed; to != nil {
		_, _ = to.Write(b[:allowed])
	}
	if r.fault = f; f != nil {
		r.stop(f)
	}
}

// end returns the result of a reply. Outputs count as far as they are more than what has come as output of processes.
func (r *remote) end(p *Call, reply *Reply) *Result {
	if more := len(reply.Outputs) - r.logged; more > event.InlineLimit {
		if _, f := r.task.count(more); f != nil {
			return failedWithError(f)
		}
	}
	result := reply.result()
	if result.Fault != nil && p.kind.Program != "" {
		p.locate(result.Fault, r.task)
	}
	return result
}

// maxReply is the most bytes that a runner may write: outputs of MaxOutput in base64, and logs.
const maxReply = 8 * MaxOutput

// bounded passes on at most left bytes.
type bounded struct {
	to   io.Writer
	left int64
	stop func(error)
	// over is the fault of more than that.
	over *fault.Fault
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.over != nil {
		return len(p), nil
	}
	if b.left -= int64(len(p)); b.left < 0 {
		b.over = fault.New(fault.TooLarge, "The runner printed more than %d MiB and was stopped", maxReply>>20).
			Suggest("A runner must print one reply and nothing else: see its command in the settings")
		b.stop(b.over)
		return len(p), nil
	}
	return b.to.Write(p)
}

// runnerStderr passes on what a runner says on standard error.
type runnerStderr struct{ to io.Writer }

func (s *runnerStderr) Write(p []byte) (int, error) {
	if s.to != nil {
		_, _ = s.to.Write(p)
	}
	return len(p), nil
}

// heldInput is a request, after which the pipe stays open until the runner has ended.
type heldInput struct {
	request io.Reader
	ended   <-chan struct{}
}

func (h *heldInput) Read(p []byte) (int, error) {
	n, err := h.request.Read(p)
	if errors.Is(err, io.EOF) {
		<-h.ended
	}
	return n, err
}

// logLine is a line with which the other end of a runner passes on output of the node's processes.
type logLine struct {
	Log struct {
		Stream string `json:"stream"`
		Text   string `json:"text"`
		Base64 []byte `json:"base64,omitempty"`
	} `json:"log"`
}

// reportLog passes a line of output on; ok is false if it is not one.
func (a *programStdout) reportLog(line []byte) (ok bool) {
	if a.log == nil || !bytes.HasPrefix(bytes.TrimLeft(line, " \t{"), []byte(`"log"`)) {
		return false
	}
	var l logLine
	if json.Unmarshal(line, &l) != nil || l.Log.Stream == "" {
		return false
	}
	if l.Log.Base64 != nil {
		a.log(l.Log.Stream, l.Log.Base64)
	} else {
		a.log(l.Log.Stream, []byte(l.Log.Text))
	}
	return true
}

// LogLine returns a line with which output of a process is passed on to a runner. A piece must have at most MaxLogPiece bytes.
func LogLine(stream string, piece []byte) []byte {
	member := `"text":` + string(event.String(piece))
	if event.WholeText(piece) != len(piece) || bytes.HasPrefix(event.String(piece), []byte("{")) {
		member = `"base64":"` + base64.StdEncoding.EncodeToString(piece) + `"`
	}
	return []byte(`{"log":{"stream":"` + stream + `",` + member + "}}\n")
}

// MaxLogPiece is the most bytes of output in one line: escaped, they fit into a line.
const MaxLogPiece = 8 << 10
