package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Acknowledgement is the line with which a detached process answers Detach: the id of the run, or why none has started.
type Acknowledgement struct {
	RunID string       `json:"run_id,omitempty"`
	Error *fault.Fault `json:"error,omitempty"`
}

// marks returns the variables that make a process part of the run, or of the pflow-sync command, that started it.
func marks() []string { return append(slices.Clip(engine.Variables), mcpclient.SyncVariable) }

// IsPart reports whether this process is part of a run, or of a pflow-sync command, and ends with it.
func IsPart(host *Host) bool {
	return slices.ContainsFunc(marks(), func(name string) bool { _, set := process.LookupEnv(host.Env, name); return set })
}

// Detach starts this program again, in a session of its own, with arguments that make it call ReadRequest and Serve. The
// acknowledgement has the id of the run that is executed there, or of a run to attach to. An error means that the process
// did not answer.
func Detach(host *Host, r *Request, args ...string) (*Acknowledgement, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fault.New(fault.Internal, "Cannot find the file of this program: %v", err)
	}
	child, err := process.Start(process.Command{
		Path: self, Args: args, Session: true,
		Env: process.Environment(host.Env, marks()...), // it is not part of a run that starts it
	})
	if err != nil {
		return nil, err
	}
	defer child.Release()
	request, err := rawjson.Marshal(r)
	if err == nil {
		_, err = child.Stdin.Write(request)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "Cannot send the request to the process that executes it: %v", err)
	}
	_ = child.Stdin.Close()
	line, err := bufio.NewReader(child.Stdout).ReadBytes('\n')
	var ack Acknowledgement
	if err != nil || json.Unmarshal(line, &ack) != nil {
		return nil, fault.New(fault.Internal, "The process that executes the run ended before the run began")
	}
	return &ack, nil
}

// maxRequest is the most bytes of a request. It is more than all documents that a request can hold, as JSON.
const maxRequest = 1 << 30

// ReadRequest reads the request that Detach has sent. It waits until ctx ends.
func ReadRequest(ctx context.Context, in io.ReadCloser) (*Request, error) {
	var r Request
	err := json.NewDecoder(input.Limit(input.Reader(ctx, in), "The request on standard input", maxRequest)).Decode(&r)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return nil, f
	}
	if err != nil {
		return nil, fault.New(fault.Usage, "detached is an internal command: start calls it with a request on standard input")
	}
	_ = in.Close()
	return &r, nil
}

// Acknowledge writes the acknowledgement and closes out, so that the process that called Detach can end.
func Acknowledge(out io.WriteCloser, ack Acknowledgement) error {
	line, err := rawjson.Marshal(ack)
	if err != nil {
		return fault.From(err)
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return fault.New(fault.Internal, "Cannot report the start of the run: %v", fault.Reason(err))
	}
	return out.Close()
}

// Serve resolves and executes a request in this process. It calls answer once, before anything runs: with the id of the run, or with
// why none has started. If answer fails, nothing runs. It returns the last event, or nil if nothing was executed.
func Serve(ctx context.Context, host *Host, r *Request, answer func(Acknowledgement) error) (*event.Event, error) {
	l, err := Resolve(ctx, host, r)
	if err != nil {
		return nil, answer(Acknowledgement{Error: fault.From(err)})
	}
	if l.Attach != "" {
		return nil, answer(Acknowledgement{RunID: l.Attach})
	}
	answered := false
	last, err := l.Execute(ctx, Observer{Started: func(id string) error {
		answered = true
		return answer(Acknowledgement{RunID: id})
	}})
	if err != nil && !answered {
		return nil, answer(Acknowledgement{Error: fault.From(err)})
	}
	return last, err
}
