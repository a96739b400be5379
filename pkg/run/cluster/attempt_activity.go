package cluster

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
	"go.temporal.io/sdk/activity"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// MaxDocument is the most bytes of the document of an attempt. Its sender and its worker hold it in memory, and pflow-exec node takes more.
const MaxDocument = 256 << 20

// attempt is the activity of an attempt: it starts pflow-exec node and keeps what that prints.
func (w *Worker) attempt(ctx context.Context, a Attempt) (end AttemptEnd, err error) {
	if err := checkVersion(a.V); err != nil {
		return end, err
	}
	request, err := w.store.Unpack(a.Request, MaxDocument)
	if err != nil {
		return end, permanent(err)
	}
	if !gjson.ValidBytes(request) {
		return end, permanent(fault.New(fault.Protocol, "The document of the attempt is not JSON"))
	}
	// The pipe stays open while this worker lives, so that the attempt ends with it.
	if request, err = sjson.SetBytes(request, "held", true); err != nil {
		return end, permanent(err)
	}
	own, stop := context.WithCancelCause(context.WithoutCancel(ctx)) // the heartbeats end it
	defer stop(nil)
	w.endWithDrain(own, stop)
	name := activity.GetInfo(ctx).WorkflowExecution.ID
	lines := &attemptLines{tape: w.store.NewTape(name), stop: func(err error) { stop(err) }}
	defer lines.tape.Close()
	h := heart{send: w.heartbeat, details: func() (any, bool) { return lines.report(), true }, stop: stop}
	defer h.run(ctx, beat)(false)
	ended := make(chan struct{})
	defer close(ended)
	stderr := process.NewTail(4 << 10)
	exit, err := process.Run(own, process.Command{
		Path: w.program("pflow-exec"), Args: []string{"node"}, Env: w.Env, Stdin: &held{bytes.NewReader(append(request, '\n')), ended}, Stdout: lines, Stderr: stderr,
	})
	end.Exit = exit.Code
	switch {
	case lines.failed != nil: // which has stopped the program
	case err != nil:
		return end, permanent(fault.New(fault.Unavailable, "The worker ended the attempt: %v", err))
	case exit.Signal != "":
		return end, permanent(fault.New(fault.Unavailable, "pflow-exec node was ended by signal %s on its worker", exit.Signal))
	}
	if end.Lines, err = lines.end(w.store, name); err == nil && end.Lines.Empty() {
		err = fault.New(fault.Unavailable, "pflow-exec node failed on its worker: %s", stderr.String())
	}
	if err != nil {
		return end, permanent(err)
	}
	return end, nil
}

// held is an input that stays open until the program has ended.
type held struct {
	text  io.Reader
	ended <-chan struct{}
}

func (h *held) Read(p []byte) (int, error) {
	n, err := h.text.Read(p)
	if errors.Is(err, io.EOF) {
		<-h.ended
	}
	return n, err
}
