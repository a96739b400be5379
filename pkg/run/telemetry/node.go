package telemetry

import (
	"maps"
	"slices"
	"time"

	"github.com/tidwall/gjson"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/pflow-suite/pflow/pkg/event"
)

func (t *Translator) nodeStarted(r *run, e *event.Event) {
	if before := r.open[e.Node]; before != nil { // the stream lacks its end
		before.attributes.flag(ownUnended, true)
		t.finish(r, before, e.Time)
		delete(r.open, e.Node)
	}
	if len(r.open) >= maxOpen {
		return
	}
	id := spanID(e.SpanID)
	if id == nil {
		id = madeID(r.id, "node", e.Node, e.Seq)
	}
	k, items := kindOf(e), kind{}
	if e.Items != nil {
		k, items = kind{nodeType: k.nodeType}, k
	}
	s := t.newAttempt(r, e, id, spanID(e.ParentSpanID), e.Time, k)
	s.items = items
	r.open[e.Node] = s
}

// newAttempt returns the span of an attempt at a node or an item.
func (t *Translator) newAttempt(r *run, e *event.Event, id, parent []byte, began time.Time, k kind) *span {
	s := r.newSpan(id, parent, event.GenericPath(e.Node), began)
	s.kind = k
	a := &s.attributes
	a.text(taskName, event.GenericPath(e.Node))
	a.text(taskRun, r.id+"/"+e.Node)
	a.text(pipelineName, r.workflow)
	a.text(pipelineRun, r.id)
	if e.Node != event.GenericPath(e.Node) {
		a.text(ownNode, e.Node)
	}
	a.text(ownType, k.nodeType)
	if e.Attempt > 1 {
		a.integer(ownAttempt, int64(e.Attempt))
	}
	if e.Item != nil {
		a.integer(ownItem, int64(*e.Item))
	}
	if e.Iteration > 0 {
		a.integer(ownIteration, int64(e.Iteration))
	}
	switch k.operation {
	case mcpCall:
		s.Name, s.Kind = valid(mcpCall+" "+k.target), trace.Span_SPAN_KIND_CLIENT
		a.text(mcpMethod, mcpCall)
		a.text(genOperation, executeTool)
		a.text(genTool, k.target)
		a.text(ownServer, k.server)
	case chat, invokeAgent:
		s.Name, s.Kind = k.operation, trace.Span_SPAN_KIND_CLIENT
		a.text(genOperation, k.operation)
	}
	return s
}

// nodeEnded ends an attempt at a node, an iteration or an item.
func (t *Translator) nodeEnded(r *run, e *event.Event) {
	s := t.attempt(r, e)
	a := &s.attributes
	switch e.Event {
	case event.NodeFailed:
		t.failed(r, s, e)
	case event.NodeCancelled:
		s.result = cancellation
		a.text(ownReason, e.Cause)
		if e.Cause == "timeout" {
			s.result, s.errorType = timeout, timeout
		}
	default:
		s.result = success
		if e.Action != "default" {
			a.text(ownAction, e.Action)
		}
	}
	a.text(ownFrom, e.FromRun)
	a.flag(ownCached, e.Cached)
	if t.Values {
		a.text(ownOutputs, string(e.Outputs))
	}
	if e.FromRun == "" && !e.Cached {
		t.usage(s, e)
	}
	t.finish(r, s, e.Time)
}

func (t *Translator) failed(r *run, s *span, e *event.Event) {
	s.result, s.errorType = failure, "_OTHER"
	if e.Error != nil {
		s.errorType, s.message = string(e.Error.Type), e.Error.Message
	}
	severity := errorSeverity
	if e.WillRetry != nil && *e.WillRetry {
		s.attributes.flag(ownRetry, true)
		severity = warnSeverity
	}
	if e.Handled != nil && *e.Handled {
		s.attributes.flag(ownHandled, true)
		severity = warnSeverity
	}
	t.record(r, s.SpanId, e.Time, severity, "pflow.node.failed", s.message, slices.Concat(nodeAttributes(e), errorAttributes(s.errorType)))
	t.Meter.failed(r, s.errorType)
}

// attempt returns the span that an event ends. The attempts at items have no event that begins them, and nodes that are refused have
// none either.
func (t *Translator) attempt(r *run, e *event.Event) *span {
	if s := r.open[e.Node]; s != nil && e.Item == nil {
		delete(r.open, e.Node)
		return s
	}
	began := e.Time
	if e.DurationMS != nil && *e.DurationMS > 0 && *e.DurationMS < 1e12 {
		began = began.Add(-time.Duration(*e.DurationMS * float64(time.Millisecond)))
	}
	parent, k := r.enclosing(e.Node), kind{}
	if batch := r.open[e.Node]; batch != nil { // of an item
		parent, k = batch.SpanId, batch.items
	}
	id := spanID(e.SpanID)
	if id == nil {
		id = madeID(r.id, string(e.Event), e.Node, e.Seq)
	}
	return t.newAttempt(r, e, id, parent, began, k)
}

// finish completes a span of a run and sends it.
func (t *Translator) finish(r *run, s *span, at time.Time) {
	s.attributes.text(taskResult, s.result)
	t.send(s, at)
	t.Meter.attempt(r, s, at)
}

// notRun sends a span without a duration for a node that did not run.
func (t *Translator) notRun(r *run, e *event.Event) {
	s := t.newAttempt(r, e, madeID(r.id, string(e.Event), e.Node, e.Seq), r.enclosing(e.Node), e.Time, kind{})
	s.result = skipped
	if e.Event == event.NodeReused {
		s.result = success
		s.attributes.text(ownFrom, e.FromRun)
		s.attributes.flag(ownCached, e.Cached)
	}
	s.attributes.text(ownReason, e.Reason)
	s.attributes.text(taskResult, s.result)
	t.send(s, e.Time)
}

// approval makes a span of a question and its answer.
func (t *Translator) approval(r *run, e *event.Event) {
	if e.Event == event.ApprovalRequested {
		if r.asked[e.Node] != nil || len(r.asked) >= maxOpen {
			return
		}
		parent := r.enclosing(e.Node)
		if asking := r.open[e.Node]; asking != nil {
			parent = asking.SpanId
		}
		s := r.newSpan(madeID(r.id, "approval", e.Node, e.Seq), parent, "approval "+event.GenericPath(e.Node), e.Time)
		s.attributes.text(pipelineName, r.workflow)
		s.attributes.text(pipelineRun, r.id)
		s.attributes.text(taskName, event.GenericPath(e.Node))
		s.attributes.flag(ownPending, true)
		text := "Node " + e.Node + " asks for approval"
		if t.Values {
			text = e.Question
			s.attributes.text(ownParams, string(e.Params))
		}
		r.asked[e.Node] = s
		t.record(r, s.SpanId, e.Time, infoSeverity, "pflow.approval.requested", text, nodeAttributes(e))
		return
	}
	s := r.asked[e.Node]
	if s == nil {
		return
	}
	delete(r.asked, e.Node)
	s.attributes = slices.DeleteFunc(s.attributes, func(kv *common.KeyValue) bool { return kv.Key == ownPending })
	if t.Values || !e.AnyAnswer {
		s.attributes.text(ownAnswer, e.Answer)
	}
	s.attributes.text(ownBy, e.By)
	t.send(s, e.Time)
}

// usage adds what an llm or agent node says of its use of a model.
func (t *Translator) usage(s *span, e *event.Event) {
	if s.kind.operation != chat && s.kind.operation != invokeAgent {
		return
	}
	u := gjson.GetBytes(e.Outputs, "llm_usage")
	if !u.IsObject() {
		return
	}
	model := u.Get("model").Str
	s.kind.target = model
	if model != "" {
		s.Name = valid(s.kind.operation + " " + model)
	}
	a := &s.attributes
	a.text(genModel, model)
	a.text(genProvider, providerOf(model))
	for _, of := range [][2]string{
		{genInput, "input_tokens"}, {genOutput, "output_tokens"}, {genCacheCreation, "cache_creation_input_tokens"}, {genCacheRead, "cache_read_input_tokens"},
	} {
		if n := u.Get(of[1]); n.Type == gjson.Number {
			a.integer(of[0], n.Int())
		}
	}
	if cost := u.Get("cost_usd"); cost.Type == gjson.Number {
		a.number(ownCost, cost.Float())
	}
	t.Meter.usage(s, u)
}

func sortedKeys(m map[string]*span) []string { return slices.Sorted(maps.Keys(m)) }
