// Package otlp sends telemetry to a collector by OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/, version 1.x), as the standard
// environment variables configure it. A Sender never makes its caller wait for the collector.
package otlp

import (
	"google.golang.org/protobuf/proto"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Signal is a kind of telemetry.
type Signal string

// The signals, in the words of the paths that they are posted to.
const (
	Traces  Signal = "traces"
	Metrics Signal = "metrics"
	Logs    Signal = "logs"
)

// Signals returns all signals.
func Signals() []Signal { return []Signal{Traces, Metrics, Logs} }

// Batch is the content of one request: a *trace.TracesData, *metrics.MetricsData or *logs.LogsData, which have the wire format of the
// requests to export them.
type Batch interface{ proto.Message }

// Count returns how many spans, data points or log records a batch has.
func Count(b Batch) int {
	n := 0
	switch b := b.(type) {
	case *trace.TracesData:
		for _, r := range b.ResourceSpans {
			for _, s := range r.ScopeSpans {
				n += len(s.Spans)
			}
		}
	case *metrics.MetricsData:
		for _, r := range b.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for _, m := range s.Metrics {
					n += len(m.GetSum().GetDataPoints()) + len(m.GetHistogram().GetDataPoints())
				}
			}
		}
	case *logs.LogsData:
		for _, r := range b.ResourceLogs {
			for _, s := range r.ScopeLogs {
				n += len(s.LogRecords)
			}
		}
	}
	return n
}
