package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/tidwall/gjson"

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
	defer func() { _ = request.Close() }()
	ctx, stop := r.within(ctx)
	defer stop(nil)
	ended := make(chan struct{})
	defer close(ended)
	from := &remote{runner: r, task: t, stop: stop, left: maxReply, values: map[string]*remoteValue{}}
	defer from.discard()
	stdout, stderr := &programStdout{progress: t.Progress, used: t.Used, take: from.take, object: spool{task: t}}, process.NewTail(maxTail)
	exit, err := process.Run(ctx, process.Command{
		Path: "/bin/sh", Args: []string{"-c", r.Command}, Dir: t.Dir, Env: t.Env, Marks: t.Marks, Stdin: &heldInput{request: request, ended: ended},
		Stdout: &remoteStdout{from, stdout}, Stderr: io.MultiWriter(&runnerStderr{t.Stderr}, stderr),
	})
	if from.fault != nil {
		stdout.object.discard()
		return failedWithError(from.fault), false
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
		Suggest("Check that the command of the runner, in settings.json, starts node of pflow-exec: %s", shorten(r.Command))
}

// speaksOtherwise returns the fault of a runner that does not keep to the protocol. what continues "The runner NAME …".
func (r *Runner) speaksOtherwise(what string) *fault.Fault {
	return fault.New(fault.Protocol, "The runner %s %s", r.Name, what).Detail("runner", r.Name).
		Suggest("Install the suite in the same version on both machines")
}

// echoes returns the fault of a runner that prints the request, in place of executing it.
func (r *Runner) echoes() *fault.Fault {
	return fault.New(fault.Protocol, "The runner %s prints what it reads, the request, and does not execute it", r.Name).Detail("runner", r.Name).
		Suggest("Its command in settings.json must start node of pflow-exec, without a terminal (ssh -T): %s", shorten(r.Command))
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

// Sign is what the sender of a held request writes behind it, at once and then every SignInterval, to show that it is still there. In JSON
// it means nothing.
const (
	Sign         = ' '
	SignInterval = 10 * time.Second
)

// heldInput is a request, and behind it signs until the runner has ended.
type heldInput struct {
	request io.Reader
	ended   <-chan struct{}
	// next is when the next sign is due, or nil before the first.
	next <-chan time.Time
}

func (h *heldInput) Read(p []byte) (int, error) {
	n, err := h.request.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if h.next != nil {
		select {
		case <-h.ended:
			return 0, io.EOF
		case <-h.next:
		}
	}
	h.next = time.After(SignInterval)
	return copy(p, []byte{Sign}), nil
}
