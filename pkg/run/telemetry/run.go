package telemetry

import (
	"strings"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/pflow-suite/pflow/pkg/event"
)

// run is the state of a run that has begun and not ended.
type run struct {
	id, workflow string
	trace        []byte
	// root is the span of the run.
	root *span
	// open has the attempts that are running, by the paths of their nodes.
	open map[string]*span
	// asked has the questions that are not answered, by the paths of the nodes that ask.
	asked map[string]*span
	// last is the time of the last event.
	last time.Time
	// state is pipelineState, since the time entered.
	state   string
	entered time.Time
}

// span is a span that has not ended.
type span struct {
	*trace.Span
	attributes attributes
	began      time.Time
	kind       kind
	// items is what the attempts at the items of a batch do.
	items kind
	// result is taskResult; errorType is empty without a failure.
	result, errorType string
	message           string
}

// kind is what the attempt at a node does, which conventions of their own describe.
type kind struct {
	// operation is mcpCall, chat or invokeAgent, or empty.
	operation string
	// target is the MCP tool or, once it is known, the model.
	target, server string
	nodeType       string
}

// The operations that have conventions of their own.
const (
	mcpCall     = "tools/call"
	chat        = "chat"
	invokeAgent = "invoke_agent"
	executeTool = "execute_tool"
)

// kindOf returns what an attempt does that a node_started event begins, or what those at the items of a batch do.
func kindOf(e *event.Event) kind {
	k := kind{nodeType: e.Type}
	switch {
	case e.MCP != nil:
		k.operation, k.target, k.server = mcpCall, e.MCP.Tool, e.MCP.Server
	case e.Type == "llm":
		k.operation = chat
	case e.Type == "agent":
		k.operation = invokeAgent
	}
	return k
}

// newSpan returns a span of a run that begins.
func (r *run) newSpan(id, parent []byte, name string, began time.Time) *span {
	if parent == nil && r.root != nil {
		parent = r.root.SpanId
	}
	return &span{
		Span:  &trace.Span{TraceId: r.trace, SpanId: id, ParentSpanId: parent, Name: valid(name), Kind: trace.Span_SPAN_KIND_INTERNAL, StartTimeUnixNano: nanos(began)},
		began: began,
	}
}

// enclosing returns the span that a node's spans are children of: the attempt at the node whose sub-workflow has it, or the run.
func (r *run) enclosing(path string) []byte {
	cut := strings.LastIndexByte(path, '/')
	if cut < 0 {
		return nil
	}
	if s := r.open[plain(path[:cut])]; s != nil {
		return s.SpanId
	}
	return nil
}

// plain returns the path of a node without the items and iterations at its end: build of build[3] and build#2.
func plain(path string) string {
	if cut := strings.LastIndexAny(path, "[#"); cut > strings.LastIndexByte(path, '/') {
		return path[:cut]
	}
	return path
}

// end completes a span and returns it.
func (s *span) end(at time.Time) *trace.Span {
	if at.Before(s.began) { // a clock that was set back
		at = s.began
	}
	s.EndTimeUnixNano = nanos(at)
	s.attributes.text(errorType, s.errorType)
	s.Attributes = s.attributes
	if s.errorType != "" {
		s.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: valid(s.message)}
	}
	return s.Span
}

func nanos(t time.Time) uint64 {
	if t.Before(time.Unix(0, 0)) {
		return 0
	}
	return uint64(t.UnixNano()) //nolint:gosec // after 1970
}
