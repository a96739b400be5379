// Package otlpcollector is a collector of OpenTelemetry data for tests. It takes OTLP/HTTP in both encodings, as the protocol's own
// generated types decode them, and can misbehave.
package otlpcollector

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Collector is a server.
type Collector struct {
	// URL is the value of OTEL_EXPORTER_OTLP_ENDPOINT.
	URL string
	// Answer, if it is set, is called before a request is read. It reports whether it has answered.
	Answer func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	spans    []*trace.Span
	records  []*logs.LogRecord
	metrics  []*metrics.Metric
	resource []*common.KeyValue
	requests []*http.Request
}

// New starts a collector, which ends with the test. Answer may be nil.
func New(t testing.TB, answer func(w http.ResponseWriter, r *http.Request) bool) *Collector {
	t.Helper()
	c := &Collector{Answer: answer}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.Answer != nil && c.Answer(w, r) {
			return
		}
		if err := c.take(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		if r.Header.Get("Content-Type") == "application/json" {
			_, _ = io.WriteString(w, "{}")
		}
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// take decodes a request and keeps what it has.
func (c *Collector) take(r *http.Request) error {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(body); err != nil {
			return err
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	decode := proto.Unmarshal
	if r.Header.Get("Content-Type") == "application/json" {
		decode = protojson.Unmarshal
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	switch r.URL.Path {
	case "/v1/traces":
		var data trace.TracesData
		if err := decode(text, &data); err != nil {
			return err
		}
		for _, of := range data.ResourceSpans {
			c.resource = of.GetResource().GetAttributes()
			for _, scope := range of.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	case "/v1/logs":
		var data logs.LogsData
		if err := decode(text, &data); err != nil {
			return err
		}
		for _, of := range data.ResourceLogs {
			for _, scope := range of.ScopeLogs {
				c.records = append(c.records, scope.LogRecords...)
			}
		}
	case "/v1/metrics":
		var data metrics.MetricsData
		if err := decode(text, &data); err != nil {
			return err
		}
		for _, of := range data.ResourceMetrics {
			for _, scope := range of.ScopeMetrics {
				c.metrics = append(c.metrics, scope.Metrics...)
			}
		}
	}
	return nil
}

// Spans returns the spans, in the order in which they came.
func (c *Collector) Spans() []*trace.Span { return locked(c, &c.spans) }

// Records returns the log records.
func (c *Collector) Records() []*logs.LogRecord { return locked(c, &c.records) }

// Metrics returns the metrics of all requests.
func (c *Collector) Metrics() []*metrics.Metric { return locked(c, &c.metrics) }

// Resource returns the attributes of the last resource of spans.
func (c *Collector) Resource() []*common.KeyValue { return locked(c, &c.resource) }

// Requests returns the requests that were taken.
func (c *Collector) Requests() []*http.Request { return locked(c, &c.requests) }

func locked[T any](c *Collector, list *[]T) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(*list)
}

// ID returns an id as the stream has it, from either encoding: what protojson decodes of hexadecimal digits is their base64.
func ID(id []byte) string {
	if len(id) == 12 || len(id) == 24 {
		return base64.StdEncoding.EncodeToString(id)
	}
	return hex.EncodeToString(id)
}

// Text returns the text of an attribute, or "".
func Text(attributes []*common.KeyValue, key string) string {
	for _, kv := range attributes {
		if kv.Key == key {
			return kv.Value.GetStringValue()
		}
	}
	return ""
}
