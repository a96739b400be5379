// Package veloflux offers a veloFlux Manager's REST API as tools and resources: for a Go program that embeds it, or for
// one that serves them over MCP. It knows nothing of MCP itself.
package veloflux

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// DefaultMaxResponse is how many bytes an answer may have when nothing else is said.
const DefaultMaxResponse = 1 << 20

// Options say what a Runtime offers and how. The zero value offers all tools under their dotted names, caches nothing and
// traces nothing.
type Options struct {
	// CacheTTL is how long what a resource gave is given again; 0 asks the Manager for each read.
	CacheTTL time.Duration
	// MaxResponse is the most bytes that an answer may have; 0 is DefaultMaxResponse.
	MaxResponse int64
	// ToolNames is how the tools' names are written; empty is NamesDot.
	ToolNames NameStyle
	// ReadOnly leaves out whatever changes the Manager, whatever Tools says; nothing is swept then either.
	ReadOnly bool
	// Tools are the only ones to offer, all when there is none; ExcludeTools are left out of them. Either spelling of a
	// name will do.
	Tools, ExcludeTools []string
	// Trace is given an entry for every call and every read; nil keeps none.
	Trace Sink
	// TraceSQL is how SQL stands in the trace; empty is SQLRaw.
	TraceSQL SQLMode
	// Log takes what is of interest to whoever runs the program; nil is silence.
	Log *slog.Logger
}

// Runtime runs the tools and reads the resources of one Manager. It may be used by several callers at a time.
type Runtime struct {
	manager   *Manager
	tools     []Tool
	byName    map[string]*Tool
	hidden    map[string]string // why a tool is not offered
	cache     *cache
	tracer    *tracer
	temporary *temporaries
	swept     sync.Once // by the first verification
	most      int64
	log       *slog.Logger
}

// NewRuntime makes a runtime. It asks the Manager nothing. Its errors are faults: a tool that is not known, or an option that is
// none.
func NewRuntime(manager *Manager, o Options) (*Runtime, error) {
	if manager == nil {
		return nil, fault.New(fault.Internal, "a runtime needs a Manager").Suggest("Make one with NewManager")
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &Runtime{
		manager: manager, most: cmp.Or(o.MaxResponse, DefaultMaxResponse), log: log, temporary: newTemporaries(manager.DeletePipeline, log),
	}
	r.cache = newCache(o.CacheTTL, r.most)
	var err error
	if r.tools, r.hidden, err = o.selected(allTools()); err != nil {
		return nil, err
	}
	r.byName = make(map[string]*Tool, len(r.tools))
	for i := range r.tools {
		r.byName[r.tools[i].Name] = &r.tools[i]
	}
	switch o.TraceSQL {
	case "", SQLRaw, SQLHash, SQLRedact:
	default:
		return nil, fault.New(fault.Usage, "%q is no way to trace SQL", o.TraceSQL).Suggest("It is raw, hash or redact")
	}
	r.tracer = newTracer(o.Trace, o.TraceSQL, r.tools, manager.secrets, func(err error) {
		log.Warn("the trace cannot be written", "error", err)
	})
	return r, nil
}

// Close deletes what is left of verifications, waiting for those that run until ctx ends, and lets go of connections. Its
// error says what stays behind, for the next Sweep of another process. No tool is to be called any more.
func (r *Runtime) Close(ctx context.Context) error {
	defer r.manager.Close()
	return r.temporary.close(ctx)
}

// Tools are the tools on offer, by name.
func (r *Runtime) Tools() []Tool { return slices.Clone(r.tools) }

// CallTool runs a tool. The arguments are a JSON object, or nothing for {}; an argument that is null counts as not given.
// The answer fits the tool's output schema, and what comes from the Manager stands in it byte for byte. Every error is an
// *Error.
func (r *Runtime) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	started := time.Now()
	answer, err := r.call(ctx, name, args)
	traced := name
	if tool := r.byName[name]; tool != nil {
		traced = tool.dotted
	}
	if failure := r.record(KindToolCall, traced, args, started, false, err); failure != nil {
		return nil, failure
	}
	return answer, nil
}

// record traces what has just ended, and gives its error, if any, in the shape that all have.
func (r *Runtime) record(kind, name string, args json.RawMessage, started time.Time, cached bool, err error) *Error {
	var failure *Error
	if err != nil {
		failure = AsError(err)
	}
	if r.tracer.sink == nil && !r.log.Enabled(context.Background(), slog.LevelDebug) {
		return failure // nobody is told
	}
	name = r.tracer.record(kind, name, args, started, cached, failure)
	r.log.Debug(kind, "name", name, "ok", err == nil, "cached", cached, "took", time.Since(started))
	return failure
}

func (r *Runtime) call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	tool := r.byName[name]
	if tool == nil {
		return nil, r.noTool(name)
	}
	given, err := tool.check(args)
	if err != nil {
		return nil, err
	}
	answer, err := tool.call(ctx, r, given)
	if err != nil {
		return nil, tool.advised(err)
	}
	if err := r.bounded(name, len(answer), tool.narrow); err != nil {
		return nil, err
	}
	return answer, nil
}

// bounded refuses an answer that is too large for whoever is to read it; narrow says what to ask for instead.
func (r *Runtime) bounded(what string, size int, narrow string) error {
	if int64(size) <= r.most {
		return nil
	}
	return &Error{
		Code:    CodeToolFailed,
		Message: strings.TrimSpace(fmt.Sprintf("The answer of %s has %d bytes, more than the %d that are allowed (max-response-bytes). %s", what, size, r.most, narrow)),
		Details: map[string]any{"bytes": size, "limit": r.most},
	}
}

// noTool is the error of a name that no tool on offer has.
func (r *Runtime) noTool(name string) *Error {
	if why, ok := r.hidden[dotted(name)]; ok {
		return &Error{Code: CodeNotFound, Message: fmt.Sprintf("The tool %s is not on offer: %s", name, why)}
	}
	var names, said []string
	for _, t := range r.tools {
		if !slices.Contains(said, t.dotted) { // one of a tool's names will do
			names, said = append(names, t.Name), append(said, t.dotted)
		}
	}
	return unknown("tool", name, names)
}

// unknown is the error of a name that is not among those that are known.
func unknown(what, name string, known []string) *Error {
	text := fmt.Sprintf("There is no %s %q. ", what, fault.Truncate(name, maxShownRoute))
	if near, ok := fault.Nearest(name, known); ok {
		text += fmt.Sprintf("Did you mean %q? ", near)
	}
	return &Error{Code: CodeNotFound, Message: text + "There is " + strings.Join(known, ", "), Details: map[string]any{"available": known}}
}
