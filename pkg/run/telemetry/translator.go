package telemetry

import (
	"slices"
	"time"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/pflow-suite/pflow/pkg/event"
)

// Translator derives telemetry from events. Its methods must not be called concurrently.
type Translator struct {
	// Values makes the inputs of runs, parameters, outputs and questions part of what is sent.
	Values bool
	// Span and Record receive what is derived. They may be nil.
	Span   func(*trace.Span)
	Record func(*logs.LogRecord)
	// Meter receives the measurements. It may be nil.
	Meter *Meter

	runs map[string]*run
	// order has the ids of the runs in the order in which they began.
	order []string
	// Unknown counts the events of runs whose run_started the stream does not have.
	Unknown int
}

// maxRuns is the most runs that are live at the same time. maxOpen is the most running attempts of one of them.
const (
	maxRuns = 10_000
	maxOpen = 10_000
)

// Apply takes the next event of the stream.
func (t *Translator) Apply(e *event.Event) {
	switch e.Event {
	case event.RunRefused:
		t.refused(e)
		return
	case event.RunStarted:
		t.began(e)
		return
	}
	r := t.runs[e.Run]
	if r == nil {
		t.Unknown++
		return
	}
	if !e.Time.IsZero() {
		r.last = e.Time
	}
	switch e.Event {
	case event.RunQueued:
		t.Meter.enter(r, pending, e.Time)
	case event.RunAdmitted:
		t.Meter.enter(r, executing, e.Time)
	case event.NodeStarted:
		t.nodeStarted(r, e)
	case event.NodeCompleted, event.NodeFailed, event.NodeCancelled, event.ItemCompleted, event.IterationCompleted:
		t.nodeEnded(r, e)
	case event.NodeReused, event.NodeSkipped:
		t.notRun(r, e)
	case event.NodeProgress:
		t.log(r, e, infoSeverity, "pflow.node.progress", e.Message)
	case event.ApprovalRequested, event.ApprovalResolved:
		t.approval(r, e)
	case event.RunFinished, event.RunInterrupted:
		t.ended(r, e)
	}
}

// Close ends the spans of the runs whose end the stream does not have, and says so in them.
func (t *Translator) Close() {
	for _, id := range slices.Clone(t.order) {
		t.leave(t.runs[id])
	}
}

// leave ends the spans of a run whose end is not known.
func (t *Translator) leave(r *run) {
	t.endOpen(r, r.last, func(s *span) { s.attributes.flag(ownUnended, true) })
	r.root.attributes.flag(ownUnended, true)
	t.send(r.root, r.last)
	t.forget(r)
}

func (t *Translator) began(e *event.Event) {
	if t.runs == nil {
		t.runs = map[string]*run{}
	}
	if t.runs[e.Run] != nil {
		return // the stream has it twice
	}
	if len(t.runs) >= maxRuns {
		t.leave(t.runs[t.order[0]])
	}
	r := &run{id: e.Run, trace: traceID(e.TraceID), open: map[string]*span{}, asked: map[string]*span{}, last: e.Time}
	if r.trace == nil { // not a stream of this suite, or damaged
		r.trace = append(madeID(e.Run, "trace", "", 0), madeID(e.Run, "trace", "", 1)...)
	}
	name := "RUN"
	if e.Workflow != nil {
		r.workflow = e.Workflow.Name
		name += " " + r.workflow
	}
	id := spanID(e.SpanID)
	if id == nil {
		id = madeID(e.Run, "run", "", 0)
	}
	r.root = r.newSpan(id, spanID(e.ParentSpanID), name, e.Time)
	r.root.Kind = trace.Span_SPAN_KIND_SERVER
	a := &r.root.attributes
	a.text(pipelineName, r.workflow)
	a.text(pipelineRun, e.Run)
	a.text(pipelineAction, "RUN")
	if e.Workflow != nil {
		a.text(ownDigest, e.Workflow.Digest)
	}
	if before, in := spanID(e.ResumedSpanID), traceID(e.ResumedTraceID); before != nil && in != nil {
		r.root.Links = []*trace.Span_Link{{TraceId: in, SpanId: before}}
	}
	if t.Values {
		a.text(ownInputs, string(e.Inputs))
	}
	t.runs[e.Run] = r
	t.order = append(t.order, e.Run)
	t.Meter.enter(r, executing, e.Time)
}

func (t *Translator) ended(r *run, e *event.Event) {
	s := r.root
	a := &s.attributes
	s.result = resultOf(e.Status)
	a.text(ownStatus, string(e.Status))
	switch {
	case e.Event == event.RunInterrupted:
		s.result, s.errorType, s.message = broken, "interrupted", "The run stopped without an end"
		t.record(r, s.SpanId, e.Time, errorSeverity, "pflow.run.interrupted", s.message, nil)
	case e.Error != nil && (s.result == failure || s.result == timeout):
		s.errorType, s.message = string(e.Error.Type), e.Error.Message
	case s.result == failure || s.result == timeout:
		s.errorType = string(e.Status)
	}
	a.text(pipelineResult, s.result)
	if e.NodesExecuted != nil {
		a.integer(ownExecuted, int64(*e.NodesExecuted))
	}
	if e.NodesReused != nil {
		a.integer(ownReused, int64(*e.NodesReused))
	}
	if e.Usage != nil && e.Usage.CostUSD != nil {
		a.number(ownCost, *e.Usage.CostUSD)
	}
	if t.Values {
		a.text(ownOutputs, string(e.Outputs))
	}
	t.endOpen(r, e.Time, func(one *span) {
		if e.Event == event.RunInterrupted {
			one.result, one.errorType = broken, "interrupted"
		}
	})
	for _, warning := range e.Warnings {
		t.record(r, s.SpanId, e.Time, warnSeverity, "pflow.run.warning", warning, nil)
	}
	if s.errorType != "" && e.Event == event.RunFinished {
		t.record(r, s.SpanId, e.Time, errorSeverity, "pflow.run.failed", s.message, errorAttributes(s.errorType))
	}
	t.send(s, e.Time)
	t.forget(r)
}

// endOpen ends the attempts and questions of a run that are open.
func (t *Translator) endOpen(r *run, at time.Time, change func(*span)) {
	for _, of := range []map[string]*span{r.open, r.asked} {
		for _, path := range sortedKeys(of) {
			s := of[path]
			change(s)
			t.finish(r, s, at)
		}
		clear(of)
	}
}

func (t *Translator) forget(r *run) {
	delete(t.runs, r.id)
	if i := slices.Index(t.order, r.id); i >= 0 {
		t.order = slices.Delete(t.order, i, i+1)
	}
	t.Meter.enter(r, "", r.last)
}

func (t *Translator) send(s *span, at time.Time) {
	if t.Span != nil {
		t.Span(s.end(at))
	}
}

// resultOf returns how a run with a status has ended, in the words of the convention; paused is a word of our own.
func resultOf(s event.Status) string {
	switch s {
	case event.Completed, event.Degraded:
		return success
	case event.TimedOut:
		return timeout
	case event.Cancelled, event.Denied:
		return cancellation
	case event.Failed:
		return failure
	}
	return string(s)
}
