package suite

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/pflow-suite/pflow/internal/otlpcollector"
)

// collected returns a place whose programs send to a collector.
func collected(t *testing.T, answer func(w http.ResponseWriter, r *http.Request) bool, env ...string) (*place, *otlpcollector.Collector) {
	t.Helper()
	p, c := newPlace(t), otlpcollector.New(t, answer)
	p.env = append(append(p.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL), env...)
	return p, c
}

// TestSpansOfARunReachACollector holds that both encodings carry each attempt with the id that its process had, and that a pipe with
// pflow-otel in its middle passes on each byte.
func TestSpansOfARunReachACollector(t *testing.T) {
	t.Parallel()
	for _, env := range [][]string{nil, {"OTEL_EXPORTER_OTLP_PROTOCOL=http/json"}, {"OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_HEADERS=x-token=a%20b", "OTEL_SERVICE_NAME=nightly"}} {
		t.Run(strings.Join(env, " "), func(t *testing.T) {
			t.Parallel()
			p, c := collected(t, nil, env...)
			p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo $TRACEPARENT"}},{"id":"each","type":"shell","batch":{"items":["x","y"]},"params":{"command":"echo $TRACEPARENT"}}]}`)
			stream := p.must("sh", "-c", "pflow-exec run w.json | tee before | pflow-otel --tee")
			if stream != p.read("before") || !strings.Contains(stream, "run_finished") {
				t.Errorf("the pipe carries %q, and before %q", stream, p.read("before"))
			}
			spans := map[string]string{} // parents by id
			for _, s := range c.Spans() {
				spans[otlpcollector.ID(s.SpanId)] = otlpcollector.ID(s.ParentSpanId)
			}
			root := gjson.Get(stream, "span_id").Str
			given := strings.Fields(p.must("pflow-exec", "logs", "last", "--format", "text", "a") + p.must("pflow-exec", "logs", "last", "--format", "text", "each"))
			if len(spans) != 5 || len(given) != 3 || spans[given[0][36:52]] != root || spans[spans[given[1][36:52]]] != root || spans[root] != "" {
				t.Errorf("spans %v of run %s, the processes had %v", spans, root, given)
			}
			if len(c.Metrics()) < 3 {
				t.Errorf("metrics: %v", c.Metrics())
			}
			name := "pflow"
			if slices.Contains(env, "OTEL_SERVICE_NAME=nightly") {
				name = "nightly"
				if h := c.Requests()[0].Header; h.Get("X-Token") != "a b" || !strings.HasPrefix(h.Get("User-Agent"), "pflow-otel/") {
					t.Errorf("headers: %v", h)
				}
			}
			if got := otlpcollector.Text(c.Resource(), "service.name"); got != name {
				t.Errorf("service.name is %q, want %q", got, name)
			}
		})
	}
}

// TestASlowCollectorIsAskedAgain holds that what may pass is tried again, as OTLP says, and nothing is lost or sent twice.
func TestASlowCollectorIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter, n int64) bool{
		"429 with Retry-After": func(w http.ResponseWriter, n int64) bool {
			if n > 2 {
				return false
			}
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		},
		"503": func(w http.ResponseWriter, n int64) bool {
			if n > 2 {
				return false
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		},
		"closed in the middle": func(_ http.ResponseWriter, n int64) bool {
			if n > 2 {
				return false
			}
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			p, c := collected(t, func(w http.ResponseWriter, _ *http.Request) bool {
				return answer(w, n.Add(1))
			}, "OTEL_METRICS_EXPORTER=none", "OTEL_LOGS_EXPORTER=none")
			p.write("w.json", chain("echo hello"))
			p.must("sh", "-c", "pflow-exec run w.json >events; pflow-otel <events")
			if n.Load() != 3 || len(c.Spans()) != 2 {
				t.Errorf("%d requests, spans %v", n.Load(), c.Spans())
			}
		})
	}
}

// TestNothingDeliveredIsAFailure holds the exit status, and that the pipe in front does not wait for the collector.
func TestNothingDeliveredIsAFailure(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	p, _ := collected(t, func(w http.ResponseWriter, r *http.Request) bool {
		select { // a collector that does not answer
		case <-release:
		case <-r.Context().Done():
		}
		return true
	}, fmt.Sprint("OTEL_EXPORTER_OTLP_TIMEOUT=", (2*patience).Milliseconds())) // if the pipe in front waited for it, the test would end before
	t.Cleanup(func() { close(release) }) // before the collector ends
	p.write("w.json", chain("echo hello"))
	p.must("sh", "-c", "pflow-exec run w.json >events")
	cmd := p.command("pflow-otel", "--tee")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	events := p.read("events")
	for i := range 2000 { // far more than a pipe holds
		if _, err := io.WriteString(in, strings.ReplaceAll(events, `"run":"r`, fmt.Sprintf(`"run":"r%d`, i))); err != nil {
			t.Fatal(err)
		}
	}
	_ = in.Close()
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "error") {
		t.Errorf("exit status %d: %s", cmd.ProcessState.ExitCode(), &stderr)
	}
	if n := strings.Count(stdout.String(), "run_finished"); n != 2000 {
		t.Errorf("%d of 2000 runs were passed on", n)
	}
}

// TestASignalLetsTheLastEventsPass holds that a Ctrl-C that ends a run and pflow-otel at the same time loses no span.
func TestASignalLetsTheLastEventsPass(t *testing.T) {
	t.Parallel()
	p, c := collected(t, nil)
	p.write("w.json", `{"nodes":[{"id":"first","type":"echo","params":{"data":1}},{"id":"a","type":"shell","params":{"command":"touch began; exec sleep 60"}}],
		"edges":[{"from":"first","to":"a"}]}`)
	cmd := p.command("sh", "-c", "trap '' INT; pflow-exec run w.json | pflow-otel")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := withTest(cmd).Start(); err != nil {
		t.Fatal(err)
	}
	p.eventually("the node runs", func() bool { return p.exists("began") })
	p.eventually("pflow-otel has begun", func() bool { return len(c.Spans()) > 0 })
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	p.eventually("the run's span is sent", func() bool {
		return slices.ContainsFunc(c.Spans(), func(s *trace.Span) bool {
			return s.Name == "RUN w.json" && otlpcollector.Text(s.Attributes, "cicd.pipeline.result") == "cancellation"
		})
	})
}

// TestWhatIsPrintedIsWhatIsSent holds that --print writes OTLP's JSON, and needs no collector.
func TestWhatIsPrintedIsWhatIsSent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", chain("echo canary"))
	stream := p.must("sh", "-c", "pflow-exec run w.json | tee events")
	for _, values := range []string{"", " --values"} {
		printed := p.must("sh", "-c", "pflow-otel --print"+values+" <events")
		first, _, _ := strings.Cut(printed, "\n")
		if gjson.Get(first, "resourceSpans.0.scopeSpans.0.spans.#").Int() != 2 || gjson.Get(first, "resourceSpans.0.scopeSpans.0.spans.0.traceId").Str != gjson.Get(stream, "trace_id").Str {
			t.Errorf("%s", printed)
		}
		if strings.Contains(printed, "canary") != (values != "") {
			t.Errorf("%q: canary in %s", values, printed)
		}
	}
}

// TestASettingThatCannotBeUsed holds that each is named.
func TestASettingThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, setting := range []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_LOGS_TIMEOUT=soon", "OTEL_EXPORTER_OTLP_HEADERS=a b=c",
		"OTEL_EXPORTER_OTLP_COMPRESSION=zip", "OTEL_EXPORTER_OTLP_CERTIFICATE=nowhere.pem", "OTEL_EXPORTER_OTLP_CLIENT_KEY=key.pem", "OTEL_TRACES_EXPORTER=console", "OTEL_SDK_DISABLED=maybe",
		"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=both", "OTEL_RESOURCE_ATTRIBUTES=a",
	} {
		q := &place{T: p.T, dir: p.dir, home: p.home, env: append(slices.Clone(p.env), setting)}
		o := q.fed("", "pflow-otel")
		name, value, _ := strings.Cut(setting, "=")
		if o.exit != 2 || !strings.Contains(o.stderr, name) && !strings.Contains(o.stderr, value) {
			t.Errorf("%s: %s", setting, o)
		}
	}
	if o := p.fed("", "pflow-otel", "--tee", "--print"); o.exit != 2 {
		t.Error(o)
	}
	if err := os.WriteFile(p.dir+"/garbage", bytes.Repeat([]byte("\x00\xff{\"v\":1,\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.must("sh", "-c", "OTEL_SDK_DISABLED=true pflow-otel --tee --quiet <garbage"); got != p.read("garbage") {
		t.Errorf("%d bytes are passed on", len(got))
	}
}
