package runner

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// attemptVariable marks the processes of an attempt that this process executes for a runner.
const attemptVariable = "PFLOW_ATTEMPT_MARK"

// ServeAttempt executes the attempt in the request on in, which is one document, and writes lines to out: the progress of the node,
// the output of its processes, and in the end the reply. It returns the fault of a node that failed. All descendants of this
// process are ended with the attempt. The host need not have a home: then it is that of the request's environment. If the attempt
// is stopped, because the context ends or the sender is gone, there is no reply: the cause is returned.
func ServeAttempt(ctx context.Context, host *Host, in io.Reader, out io.Writer) (*fault.Fault, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	source := input.Reader(ctx, in)
	request := newRequestReader(input.Limit(source, "The request on standard input", maxRequest))
	defer request.close()
	decoder := json.NewDecoder(request)
	var r node.Request
	if err := decoder.Decode(&r); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if f, ok := errors.AsType[*fault.Fault](err); ok {
			return nil, f
		}
		return nil, fault.New(fault.Usage, "Standard input is not a request: %v", err).
			Suggest(`Give a request, {"v":1,"type":TYPE,"params":{…}}`).Then(fault.Command("Or name the type of a node", "pflow-exec node TYPE KEY=VALUE"))
	}
	if r.V != node.RequestVersion {
		return nil, fault.New(fault.Protocol, "The request has version %d, but this program needs version %d", r.V, node.RequestVersion).
			Suggest("Install the suite in the same version on both machines")
	}
	r.Long = request.long()
	if r.Held { // when the sender is gone, the attempt must end
		go watchSender(io.MultiReader(decoder.Buffered(), bytes.NewReader(request.out), source), cancel)
	}
	lines := &attemptLines{to: out}
	result := host.attempt(ctx, &r, lines)
	if cause := context.Cause(ctx); cause != nil && result.Fault != nil { // a reply would say that the node has failed by itself
		return nil, cause
	}
	raw, err := rawjson.Marshal(node.ReplyOf(result))
	if err != nil {
		return nil, fault.From(err)
	}
	lines.line(append(raw, '\n'))
	return result.Fault, lines.err
}

// attempt executes an attempt.
func (host *Host) attempt(ctx context.Context, r *node.Request, lines *attemptLines) *node.Result {
	failed := func(f *fault.Fault) *node.Result {
		return &node.Result{Action: "error", Fault: f, Outputs: json.RawMessage(`{"error":` + string(rawjson.Quote(f.Message)) + `}`)}
	}
	if host.Home == nil { // its environment names none
		h, err := home.Open(r.Env["PFLOW_HOME"], r.Env["HOME"])
		if err != nil {
			return failed(fault.From(err))
		}
		host.Home = h.WithContext(ctx)
	}
	kind, ok, err := registry.Open(host.Home).Type(r.Type)
	switch {
	case err != nil:
		return failed(fault.From(err))
	case !ok:
		return failed(fault.New(fault.Unavailable, "The machine that runs the node has no node type %q", r.Type).
			Then(fault.ByPerson("Install it there too, and register it", "pflow-sync nodes")))
	}
	known, err := settings.Load(host.Home)
	if err != nil {
		return failed(fault.From(err))
	}
	t := r.Task(kind, host.Env)
	if t.Dir == "" {
		if t.Dir, err = os.Getwd(); err != nil {
			return failed(fault.From(err))
		}
	}
	if info, err := os.Stat(t.Dir); err != nil || !info.IsDir() {
		return failed(fault.New(fault.Execution, "The machine that runs the node has no folder %s", t.Dir).
			Suggest("Files are not copied: use a folder that both machines have, or copy with rsync in a node of its own"))
	}
	mark := attemptVariable + "=" + rand.Text()
	t.Env, t.Marks = append(t.Env, mark), append(t.Marks, mark) // the runner has the other marks too, if it is on this machine
	if t.Suite, err = host.Suite(); err != nil {
		return failed(fault.From(err))
	}
	l := &Launch{host: host, env: t.Env, settings: known, redactor: redact.For(known.Env, t.Env), dir: t.Dir, request: &Request{}}
	t.Servers = mcpclient.NewPool(l.reach("", t.Env))
	t.Stdout, t.Stderr = lines.log("stdout"), lines.log("stderr")
	if r.LongValues {
		t.Capture = lines.output
	}
	t.Progress, t.Used = lines.progress, lines.used
	process.AdoptOrphans()
	strays := process.Strays{Mark: mark, Grace: process.DefaultGrace}
	defer strays.EndRemaining()
	defer t.Servers.Close()
	if t.Timeout > 0 {
		limit := t.Timeout
		if param, ok := kind.Param(nodetype.TimeoutParam); ok && param.Type == nodetype.DurationType && kind.Program != "" {
			limit += process.DefaultGrace // it keeps the limit by itself, and has outputs then
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, &node.TimeoutError{After: t.Timeout})
		defer cancel()
	}
	return node.Run(ctx, r.Call(kind), t)
}
