package telemetry

import (
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/pflow-suite/pflow/pkg/run/otlp"
)

// exporter collects spans and log records into batches. Its methods must not be called concurrently.
type exporter struct {
	resource *resource.Resource
	scope    *common.InstrumentationScope
	// put receives the batches of each signal that is sent.
	put map[otlp.Signal]func(otlp.Batch)

	spans   []*trace.Span
	records []*logs.LogRecord
}

// maxBatch is the most spans or log records of a batch, as in the SDKs.
const maxBatch = 512

func (x *exporter) span(s *trace.Span) {
	if x.spans = append(x.spans, s); len(x.spans) >= maxBatch {
		x.flushSpans()
	}
}

func (x *exporter) record(r *logs.LogRecord) {
	if x.records = append(x.records, r); len(x.records) >= maxBatch {
		x.flushRecords()
	}
}

// flush passes on what is collected.
func (x *exporter) flush() {
	x.flushSpans()
	x.flushRecords()
}

func (x *exporter) flushSpans() {
	if len(x.spans) > 0 {
		x.pass(otlp.Traces, &trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{
			Resource: x.resource, SchemaUrl: SchemaURL, ScopeSpans: []*trace.ScopeSpans{{Scope: x.scope, SchemaUrl: SchemaURL, Spans: x.spans}},
		}}})
	}
	x.spans = nil
}

func (x *exporter) flushRecords() {
	if len(x.records) > 0 {
		x.pass(otlp.Logs, &logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{
			Resource: x.resource, SchemaUrl: SchemaURL, ScopeLogs: []*logs.ScopeLogs{{Scope: x.scope, SchemaUrl: SchemaURL, LogRecords: x.records}},
		}}})
	}
	x.records = nil
}

// measure passes on what the meter has.
func (x *exporter) measure(m *Meter, now time.Time) {
	if collected := m.Collect(now); len(collected) > 0 {
		x.pass(otlp.Metrics, &metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{{
			Resource: x.resource, SchemaUrl: SchemaURL, ScopeMetrics: []*metrics.ScopeMetrics{{Scope: x.scope, SchemaUrl: SchemaURL, Metrics: collected}},
		}}})
	}
}

func (x *exporter) pass(s otlp.Signal, b otlp.Batch) {
	if put := x.put[s]; put != nil {
		put(b)
	}
}
