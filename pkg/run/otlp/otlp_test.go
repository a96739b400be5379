package otlp

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/internal/otlpcollector"
)

func env(variables ...string) func(string) string {
	return func(name string) string {
		for _, kv := range variables {
			if key, value, _ := strings.Cut(kv, "="); key == name {
				return value
			}
		}
		return ""
	}
}

func TestWhereASignalIsPosted(t *testing.T) {
	for want, variables := range map[string][]string{
		"http://localhost:4318/v1/traces": nil,
		"https://c:1/v1/traces":           {"OTEL_EXPORTER_OTLP_ENDPOINT=https://c:1"},
		"https://c/x/v1/traces":           {"OTEL_EXPORTER_OTLP_ENDPOINT=https://c/x/"},
		"http://own:9/":                   {"OTEL_EXPORTER_OTLP_ENDPOINT=https://c", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://own:9"},
		"http://own:9/spans?a=b":          {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://own:9/spans?a=b"},
	} {
		c, err := FromEnvironment(Traces, env(variables...))
		if err != nil || c.URL != want {
			t.Errorf("%v: %+v %v, want %s", variables, c, err, want)
		}
	}
}

func TestHeadersAreDecoded(t *testing.T) {
	c, err := FromEnvironment(Logs, env("OTEL_EXPORTER_OTLP_HEADERS=a=1, b = c%3Dd%2C ,", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=a=2"))
	if err != nil || c.Headers.Get("a") != "1" || c.Headers.Get("b") != "c=d," {
		t.Errorf("%v %v", c, err)
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add("a=b,c=%20")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := FromEnvironment(Logs, env("OTEL_EXPORTER_OTLP_HEADERS="+text))
		if err != nil {
			return
		}
		request, err := http.NewRequest(http.MethodPost, "http://localhost", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header = c.Headers
		if err := request.Write(io.Discard); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func TestAPartialSuccessIsCounted(t *testing.T) {
	partial := protowire.AppendString(protowire.AppendTag(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3), 2, protowire.BytesType), "too old")
	binary := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
	for contentType, answer := range map[string][]byte{"application/x-protobuf": binary, "application/json": []byte(`{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}`)} {
		if n, message := parsePartial(answer, contentType); n != 3 || message != "too old" {
			t.Errorf("%s: %d %q", contentType, n, message)
		}
	}
}

func FuzzPartial(f *testing.F) {
	f.Add([]byte{10, 2, 8, 3}, "application/x-protobuf")
	f.Fuzz(func(t *testing.T, answer []byte, contentType string) {
		_, message := parsePartial(answer, contentType)
		if len(message) > len(answer) {
			t.Errorf("%q of %q", message, answer)
		}
	})
}

// TestASpoolKeepsTheOrder holds that what is put is taken in its order, in memory and on disk, whatever happens in between.
func TestASpoolKeepsTheOrder(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := newSpool(dir)
		var want []request
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "put") {
				r := request{bytes.Repeat([]byte{byte(i)}, rapid.SampledFrom([]int{0, 1, 1000, maxInMemory / 3, maxInMemory}).Draw(t, "size")), i}
				if !s.put(r) {
					t.Fatal("no room")
				}
				want = append(want, r)
				continue
			}
			r, ok := s.take()
			if ok != (len(want) > 0) || ok && (r.items != want[0].items || !bytes.Equal(r.body, want[0].body)) {
				t.Fatalf("step %d: %d items, %d bytes, %v", i, r.items, len(r.body), ok)
			}
			if ok {
				want = want[1:]
			}
		}
		if s.file != nil {
			_ = s.file.Close()
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{"3": 3 * time.Second, "Mon, 23 Nov 2026 12:00:07 GMT": 7 * time.Second, "Mon, 23 Nov 2026 11:00:00 GMT": 0, "": -1, "-1": -1, "soon": -1} {
		if got, ok := retryAfter(value, now); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v %v", value, got, ok)
		}
	}
}

func batch(n int) Batch {
	spans := make([]*trace.Span, n)
	for i := range spans {
		spans[i] = &trace.Span{Name: "s", TraceId: make([]byte, 16), SpanId: make([]byte, 8)}
	}
	return &trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{ScopeSpans: []*trace.ScopeSpans{{Spans: spans}}}}}
}

// TestASenderDeliversEverything holds that a collector that is down at first gets all batches, once.
func TestASenderDeliversEverything(t *testing.T) {
	var refused atomic.Int64
	c := otlpcollector.New(t, func(w http.ResponseWriter, _ *http.Request) bool {
		if refused.Add(1) > 1 {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	config, err := FromEnvironment(Traces, env("OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSender(context.Background(), Traces, config, Options{Dir: t.TempDir(), UserAgent: "test", Log: slog.New(slog.DiscardHandler)})
	for range 100 {
		s.Put(batch(10))
	}
	if lost, why := s.Close(time.Minute); lost != 0 || len(c.Spans()) != 1000 {
		t.Errorf("%d are lost, %d are there: %v", lost, len(c.Spans()), why)
	}
}

// TestWhatIsRefusedForGoodIsCounted holds that it is not tried again, and that what comes after it is sent.
func TestWhatIsRefusedForGoodIsCounted(t *testing.T) {
	var n atomic.Int64
	c := otlpcollector.New(t, func(w http.ResponseWriter, _ *http.Request) bool {
		if n.Add(1) > 1 {
			return false
		}
		w.WriteHeader(http.StatusBadRequest)
		return true
	})
	config, err := FromEnvironment(Traces, env("OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSender(context.Background(), Traces, config, Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	s.Put(batch(3))
	s.Put(batch(4))
	if lost, why := s.Close(time.Minute); lost != 3 || why == nil || s.Delivered() != 4 || n.Load() != 2 {
		t.Errorf("%d are lost, %d delivered in %d requests: %v", lost, s.Delivered(), n.Load(), why)
	}
}
