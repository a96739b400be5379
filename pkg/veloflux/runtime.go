// Package veloflux offers a veloFlux Manager's REST API as tools and resources, for a Go program that uses them directly
// or serves them over MCP. The package itself does not speak MCP.
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

// DefaultMaxResponse is the default of Options.MaxResponse.
const DefaultMaxResponse = 1 << 20

// Options configures a Runtime. The zero value offers all tools under their dotted names, without a cache or a trace.
type Options struct {
	// CacheTTL is how long the document of a resource is cached; 0 means to ask the Manager for each read.
	CacheTTL time.Duration
	// MaxResponse is the most bytes that an answer may have; 0 means DefaultMaxResponse.
	MaxResponse int64
	// ToolNames is the style of the tools' names; empty means NamesDot.
	ToolNames NameStyle
	// ReadOnly leaves out the tools that change the Manager, even if Tools names them. Nothing is swept either.
	ReadOnly bool
	// Tools names the only tools to offer; empty means all. ExcludeTools names tools to leave out. Names may be in either
	// style, or VerificationTools.
	Tools, ExcludeTools []string
	// Trace receives an entry for every call and every read. It may be nil.
	Trace Sink
	// TraceSQL is how SQL appears in the trace; empty means SQLRaw.
	TraceSQL SQLMode
	// Log receives messages for the operator of the program. It may be nil.
	Log *slog.Logger
}

// Runtime runs the tools and reads the resources of one Manager. It is safe for concurrent use.
type Runtime struct {
	manager     *Manager
	tools       []Tool
	byName      map[string]*Tool
	hidden      map[string]string // the reason why a tool is not offered, by its dotted name
	cache       *cache
	tracer      *tracer
	temporary   *temporaries
	swept       sync.Once // done by the first verification
	maxResponse int64
	log         *slog.Logger
}

// NewRuntime returns a runtime. It does not contact the Manager. It returns a fault if a tool is unknown or an option is
// invalid.
func NewRuntime(manager *Manager, o Options) (*Runtime, error) {
	if manager == nil {
		return nil, fault.New(fault.Internal, "a runtime needs a Manager").Suggest("Make one with NewManager")
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &Runtime{
		manager: manager, maxResponse: cmp.Or(o.MaxResponse, DefaultMaxResponse), log: log, temporary: newTemporaries(manager.DeletePipeline, log),
	}
	r.cache = newCache(o.CacheTTL, r.maxResponse)
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
		return nil, fault.New(fault.Usage, "%q is not a way to trace SQL", o.TraceSQL).Suggest("Use raw, hash or redact")
	}
	r.tracer = newTracer(o.Trace, o.TraceSQL, r.tools, manager.secrets, func(err error) {
		log.Warn("the trace cannot be written", "error", err)
	})
	return r, nil
}

// Settling is how long Close may look for a pipeline whose create was not answered, in addition to the time of requests.
const Settling = lookFor

// Close waits for running verifications, deletes the temporary pipelines that are left, and closes idle connections. A
// pipeline whose create was not answered is looked for as long as Settling. Close gives up when ctx ends. Its error names
// what is left behind; the next Sweep of any process deletes it. No tool may be called after Close.
func (r *Runtime) Close(ctx context.Context) error {
	defer r.manager.Close()
	return r.temporary.close(ctx)
}

// Temporary returns the ids of the temporary pipelines that exist now, or may. They are left behind if the program ends
// without Close.
func (r *Runtime) Temporary() []string { return r.temporary.ids() }

// Tools returns the offered tools, sorted by name.
func (r *Runtime) Tools() []Tool { return slices.Clone(r.tools) }

// CallTool runs a tool. args is a JSON object, or empty for {}; an argument that is null counts as not given. The answer
// fits the tool's output schema and contains the Manager's JSON unchanged. Every error is an *Error.
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

// record traces a call or a read that has just ended. It returns err as an *Error, or nil.
func (r *Runtime) record(kind, name string, args json.RawMessage, started time.Time, cached bool, err error) *Error {
	var failure *Error
	if err != nil {
		failure = AsError(err)
	}
	if r.tracer.sink == nil && !r.log.Enabled(context.Background(), slog.LevelDebug) {
		return failure // neither the trace nor the log wants it
	}
	name = r.tracer.record(kind, name, args, started, cached, failure)
	r.log.Debug(kind, "name", name, "ok", err == nil, "cached", cached, "took", time.Since(started))
	return failure
}

func (r *Runtime) call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	tool := r.byName[name]
	if tool == nil {
		return nil, r.unknownTool(name)
	}
	given, err := tool.check(args)
	if err != nil {
		return nil, err
	}
	answer, err := tool.call(ctx, r, given)
	if err != nil {
		return nil, tool.renameAdvice(err)
	}
	if err := r.checkSize(name, len(answer), tool.ifTooLarge); err != nil {
		return nil, err
	}
	return answer, nil
}

// checkSize returns an error if an answer is larger than the limit; narrow says what to do instead.
func (r *Runtime) checkSize(what string, size int, narrow string) error {
	if int64(size) <= r.maxResponse {
		return nil
	}
	return &Error{
		Code:    CodeToolFailed,
		Message: strings.TrimSpace(fmt.Sprintf("The answer of %s has %d bytes, more than the %d that are allowed (max-response-bytes). %s", what, size, r.maxResponse, narrow)),
		Details: map[string]any{"bytes": size, "limit": r.maxResponse},
	}
}

// unknownTool returns the error for a tool that is not offered.
func (r *Runtime) unknownTool(name string) *Error {
	if why, ok := r.hidden[dotted(name)]; ok {
		return &Error{Code: CodeNotFound, Message: fmt.Sprintf("The tool %s is not offered: %s", name, why)}
	}
	var names, said []string
	for _, t := range r.tools {
		if !slices.Contains(said, t.dotted) { // one name of each tool is enough
			names, said = append(names, t.Name), append(said, t.dotted)
		}
	}
	return unknownName("tool", name, names)
}

// unknownName returns the error for a name that is not one of the known ones.
func unknownName(what, name string, known []string) *Error {
	text := fmt.Sprintf("There is no %s %q. ", what, fault.Truncate(name, maxShownRoute))
	if near, ok := fault.Nearest(name, known); ok {
		text += fmt.Sprintf("Did you mean %q? ", near)
	}
	return &Error{Code: CodeNotFound, Message: text + "The " + what + "s are " + strings.Join(known, ", "), Details: map[string]any{"available": known}}
}
