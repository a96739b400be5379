package runner

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
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

// attemptLines writes the lines of an attempt.
type attemptLines struct {
	to io.Writer

	mu       sync.Mutex
	err      error
	reported time.Time
	// values counts the long values.
	values int
}

func (a *attemptLines) line(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.to.Write(b); err != nil && a.err == nil {
		a.err = err
	}
}

// progress reports how far the node is, at most ten times a second.
func (a *attemptLines) progress(done, total float64, message string) {
	a.mu.Lock()
	soon := time.Since(a.reported) < 100*time.Millisecond
	if !soon {
		a.reported = time.Now()
	}
	a.mu.Unlock()
	if !soon {
		a.report(map[string]any{"done": done, "total": total, "message": fault.Truncate(message, node.MaxPiece)})
	}
}

// used reports the use of language models.
func (a *attemptLines) used(usage json.RawMessage) {
	a.report(map[string]any{"llm_usage": usage})
}

func (a *attemptLines) report(step map[string]any) {
	if raw, err := rawjson.Marshal(map[string]any{"progress": step}); err == nil {
		a.line(append(raw, '\n'))
	}
}

// log returns a writer for the output of the node's processes on one stream.
func (a *attemptLines) log(stream string) io.Writer { return &attemptLog{a, stream} }

type attemptLog struct {
	lines  *attemptLines
	stream string
}

func (l *attemptLog) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), node.MaxPiece)
		l.lines.line(node.LogLine(l.stream, rest[:n]))
		rest = rest[n:]
	}
	return len(p), nil
}

// output returns what collects an output of the node's process. A long one is passed on as it comes.
func (a *attemptLines) output() node.Output {
	o := &attemptOutput{lines: a}
	o.Capture = event.Capture{New: o.begin, Redact: unredacted}
	return o
}

// attemptOutput is an output whose content is sent, in place of being held, as soon as it is long.
type attemptOutput struct {
	event.Capture
	lines *attemptLines
	sent  *sentValue
}

func (o *attemptOutput) begin() (event.Blob, error) {
	o.lines.mu.Lock()
	o.lines.values++
	id := strconv.Itoa(o.lines.values)
	o.lines.mu.Unlock()
	o.sent = &sentValue{lines: o.lines, id: id}
	return o.sent, nil
}

// Value returns the output, or a reference to what was sent: the receiver removes newlines from that.
func (o *attemptOutput) Value(strip bool) (json.RawMessage, error) {
	if o.sent == nil {
		return o.Capture.Value(strip)
	}
	o.sent.strip = strip
	return o.Capture.Value(false)
}

// sentValue sends a long value, and holds its beginning, from which a reference is made.
type sentValue struct {
	lines     *attemptLines
	id        string
	strip     bool
	beginning []byte
}

func (v *sentValue) Write(p []byte) (int, error) {
	v.beginning = append(v.beginning, p[:min(len(p), event.InlineLimit-len(v.beginning))]...)
	for rest := p; len(rest) > 0; {
		n := min(len(rest), node.MaxPiece)
		v.lines.line(node.ValueLine(v.id, rest[:n]))
		rest = rest[n:]
	}
	return len(p), nil
}

// ReadAt reads the beginning.
func (v *sentValue) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(v.beginning).ReadAt(p, at)
}

// Keep ends the value.
func (v *sentValue) Keep() (ref string, err error) {
	v.lines.line(node.ValueEnd(v.id, v.strip))
	return v.id, nil
}

// Discard does nothing: the receiver drops what no output refers to.
func (v *sentValue) Discard() {}

// unredacted is a writer that removes no secrets: the receiver does.
func unredacted(w io.Writer) event.Redacting { return asItIs{w} }

type asItIs struct{ io.Writer }

func (asItIs) Close() error   { return nil }
func (asItIs) Redacted() bool { return false }
