package telemetry

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
)

// translated is what a stream becomes.
type translated struct {
	spans   map[string]*trace.Span // by name, or name@attempt
	all     []*trace.Span
	records []*logs.LogRecord
	meter   *Meter
	strange int
	unknown int
}

func translate(t *testing.T, values bool, stream string) *translated {
	t.Helper()
	out := &translated{spans: map[string]*trace.Span{}, meter: NewMeter(noon)}
	tr := &Translator{
		Values: values, Meter: out.meter,
		Span:   func(s *trace.Span) { out.spans[s.Name], out.all = s, append(out.all, s) },
		Record: func(r *logs.LogRecord) { out.records = append(out.records, r) },
	}
	if err := read(stream, nil, tr, &out.strange); err != nil {
		t.Fatal(err)
	}
	tr.Close()
	out.unknown = tr.Unknown
	return out
}

func attribute(s *trace.Span, key string) string {
	for _, kv := range s.Attributes {
		if kv.Key == key {
			if text := kv.Value.GetStringValue(); text != "" {
				return text
			}
			return kv.Value.String()
		}
	}
	return ""
}

const (
	began = `{"v":1,"seq":1,"event":"run_started","run":"r1","time":"2026-11-23T12:00:00Z","workflow":{"name":"w","digest":"sha256:0"},"inputs":{"who":"Ada"},"nodes":["a"],"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331","parent_span_id":"00f067aa0ba902b7","resumed_trace_id":"1af7651916cd43dd8448eb211c80319c","resumed_span_id":"c7ad6b7169203331"}` + "\n"
	ended = `{"v":1,"seq":99,"event":"run_finished","run":"r1","time":"2026-11-23T12:00:09Z","status":"STATUS","nodes_executed":1,"nodes_reused":0}` + "\n"
)

func finished(status string) string { return strings.Replace(ended, "STATUS", status, 1) }

func TestARunBecomesATrace(t *testing.T) {
	out := translate(t, false, began+
		`{"v":1,"seq":2,"event":"node_started","run":"r1","time":"2026-11-23T12:00:01Z","node":"a","span_id":"0000000000000001","type":"shell","attempt":1}
{"v":1,"seq":3,"event":"node_failed","run":"r1","time":"2026-11-23T12:00:02Z","node":"a","attempt":1,"error":{"type":"execution_error","message":"no"},"will_retry":true}
{"v":1,"seq":4,"event":"node_started","run":"r1","time":"2026-11-23T12:00:03Z","node":"a","span_id":"0000000000000002","type":"shell","attempt":2}
{"v":1,"seq":5,"event":"node_completed","run":"r1","time":"2026-11-23T12:00:04Z","node":"a","attempt":2,"action":"default","outputs":{"stdout":"value"}}
{"v":1,"seq":6,"event":"node_started","run":"r1","time":"2026-11-23T12:00:04Z","node":"each","span_id":"0000000000000003","type":"workflow","items":2,"attempt":1}
{"v":1,"seq":7,"event":"node_started","run":"r1","time":"2026-11-23T12:00:05Z","node":"each[0]/in","span_id":"0000000000000004","parent_span_id":"0000000000000005","type":"echo","attempt":1}
{"v":1,"seq":8,"event":"node_completed","run":"r1","time":"2026-11-23T12:00:05Z","node":"each[0]/in","attempt":1,"action":"default"}
{"v":1,"seq":9,"event":"item_completed","run":"r1","time":"2026-11-23T12:00:06Z","node":"each","item":0,"span_id":"0000000000000005","attempt":1,"duration_ms":2000}
{"v":1,"seq":10,"event":"node_skipped","run":"r1","time":"2026-11-23T12:00:06Z","node":"each[1]/in","reason":"no edge"}
{"v":1,"seq":11,"event":"node_completed","run":"r1","time":"2026-11-23T12:00:07Z","node":"each","attempt":1,"action":"default"}
{"v":1,"seq":12,"event":"node_reused","run":"r1","time":"2026-11-23T12:00:07Z","node":"old","from_run":"r0","action":"default"}
`+finished("completed"))
	type place struct{ name, id, parent string }
	want := []place{
		{"a", "0000000000000001", "b7ad6b7169203331"}, {"a", "0000000000000002", "b7ad6b7169203331"}, {"each/in", "0000000000000004", "0000000000000005"},
		{"each", "0000000000000005", "0000000000000003"}, {"each/in", "", "0000000000000003"}, {"each", "0000000000000003", "b7ad6b7169203331"},
		{"old", "", "b7ad6b7169203331"}, {"RUN w", "b7ad6b7169203331", "00f067aa0ba902b7"},
	}
	if len(out.all) != len(want) {
		t.Fatalf("%d spans: %v", len(out.all), out.all)
	}
	for i, s := range out.all {
		id := hex.EncodeToString(s.SpanId)
		if s.Name != want[i].name || hex.EncodeToString(s.ParentSpanId) != want[i].parent || want[i].id != "" && id != want[i].id || len(id) != 16 ||
			hex.EncodeToString(s.TraceId) != "0af7651916cd43dd8448eb211c80319c" || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("span %d is %v, want %v", i, s, want[i])
		}
	}
	if failed := out.all[0]; failed.Status.GetCode() != trace.Status_STATUS_CODE_ERROR || attribute(failed, errorType) != "execution_error" || attribute(failed, taskResult) != "failure" {
		t.Errorf("the failed attempt is %v", failed)
	}
	if item := out.all[3]; item.EndTimeUnixNano-item.StartTimeUnixNano != 2e9 || attribute(item, ownItem) == "" {
		t.Errorf("the item is %v", item)
	}
	if root := out.spans["RUN w"]; len(root.Links) != 1 || hex.EncodeToString(root.Links[0].SpanId) != "c7ad6b7169203331" || hex.EncodeToString(root.Links[0].TraceId)[0] != '1' ||
		root.Kind != trace.Span_SPAN_KIND_SERVER || attribute(root, pipelineResult) != "success" || root.EndTimeUnixNano-root.StartTimeUnixNano != 9e9 {
		t.Errorf("the run is %v", root)
	}
	if attribute(out.spans["old"], ownFrom) != "r0" || attribute(out.all[4], taskResult) != "skip" {
		t.Errorf("reused %v, skipped %v", out.spans["old"], out.all[4])
	}
	if len(out.records) != 1 || out.records[0].SeverityText != "WARN" || hex.EncodeToString(out.records[0].SpanId) != "0000000000000001" {
		t.Errorf("records: %v", out.records)
	}
}

// TestValuesAreSentOnlyWhenAskedFor holds that inputs, parameters, outputs, questions and answers of any text stay here.
func TestValuesAreSentOnlyWhenAskedFor(t *testing.T) {
	stream := began + `{"v":1,"seq":2,"event":"approval_requested","run":"r1","time":"2026-11-23T12:00:01Z","node":"a","question":"For canary?","params":{"command":"canary"},"any_answer":true}
{"v":1,"seq":3,"event":"approval_resolved","run":"r1","time":"2026-11-23T12:00:02Z","node":"a","answer":"canary","by":"terminal","any_answer":true}
{"v":1,"seq":4,"event":"node_started","run":"r1","time":"2026-11-23T12:00:03Z","node":"a","span_id":"0000000000000001","type":"shell","attempt":1}
{"v":1,"seq":5,"event":"node_completed","run":"r1","time":"2026-11-23T12:00:04Z","node":"a","action":"default","outputs":{"stdout":"canary"}}
`
	stream = strings.Replace(stream, "Ada", "canary", 1) + strings.Replace(finished("completed"), `"nodes_executed"`, `"outputs":{"x":"canary"},"nodes_executed"`, 1)
	for values, want := range map[bool]int{false: 0, true: 6} {
		out := translate(t, values, stream)
		n := 0
		for _, s := range out.all {
			n += strings.Count(s.String(), "canary")
		}
		for _, r := range out.records {
			n += strings.Count(r.String(), "canary")
		}
		if n < want || want == 0 && n > 0 {
			t.Errorf("values %v: canary stands in it %d times: %v %v", values, n, out.all, out.records)
		}
	}
}

func TestHowARunEnds(t *testing.T) {
	open := `{"v":1,"seq":2,"event":"node_started","run":"r1","time":"2026-11-23T12:00:01Z","node":"a","span_id":"0000000000000001","type":"shell","attempt":1}` + "\n"
	for name, c := range map[string]struct {
		last, result, errorType string
		code                    trace.Status_StatusCode
		incomplete              bool
	}{
		"completed": {finished("completed"), "success", "", 0, false}, "degraded": {finished("degraded"), "success", "", 0, false},
		"failed": {finished("failed"), "failure", "failed", 2, false}, "timed out": {finished("timed_out"), "timeout", "timed_out", 2, false},
		"cancelled": {finished("cancelled"), "cancellation", "", 0, false}, "denied": {finished("denied"), "cancellation", "", 0, false},
		"paused": {finished("paused"), "paused", "", 0, false}, "no end": {"", "", "", 0, true},
		"interrupted": {`{"v":1,"event":"run_interrupted","run":"r1","time":"2026-11-23T12:00:05Z"}` + "\n", "error", "interrupted", 2, false},
	} {
		out := translate(t, false, began+open+c.last)
		root := out.spans["RUN w"]
		if root == nil || len(out.all) != 2 || attribute(root, pipelineResult) != c.result || attribute(root, errorType) != c.errorType || root.Status.GetCode() != c.code ||
			(attribute(root, ownUnended) != "") != c.incomplete {
			t.Errorf("%s: %v", name, out.all)
		}
		if active := out.meter.instruments[runActive].points; len(active) != 1 {
			t.Errorf("%s: %v", name, active)
		} else {
			for _, p := range active {
				if p.sum != 0 {
					t.Errorf("%s: %v runs are still active", name, p.sum)
				}
			}
		}
	}
}

func TestModelsAndToolsHaveTheirConventions(t *testing.T) {
	out := translate(t, false, began+
		`{"v":1,"seq":2,"event":"node_started","run":"r1","time":"2026-11-23T12:00:01Z","node":"ask","span_id":"0000000000000001","type":"llm","attempt":1}
{"v":1,"seq":3,"event":"node_completed","run":"r1","time":"2026-11-23T12:00:03Z","node":"ask","action":"default","outputs":{"llm_usage":{"model":"claude-x","input_tokens":10,"output_tokens":5,"cost_usd":0.25}}}
{"v":1,"seq":4,"event":"node_started","run":"r1","time":"2026-11-23T12:00:03Z","node":"call","span_id":"0000000000000002","type":"mcp-s-t","mcp":{"server":"s","tool":"read_it"},"attempt":1}
{"v":1,"seq":5,"event":"node_completed","run":"r1","time":"2026-11-23T12:00:04Z","node":"call","action":"default"}
`+finished("completed"))
	asked, called := out.spans["chat claude-x"], out.spans["tools/call read_it"]
	if asked == nil || called == nil {
		t.Fatal(out.all)
	}
	if attribute(asked, genProvider) != "anthropic" || asked.Kind != trace.Span_SPAN_KIND_CLIENT || attribute(asked, ownCost) == "" || !strings.Contains(attribute(asked, genInput), "10") {
		t.Error(asked)
	}
	if attribute(called, mcpMethod) != "tools/call" || attribute(called, genTool) != "read_it" || attribute(called, ownServer) != "s" || called.Kind != trace.Span_SPAN_KIND_CLIENT {
		t.Error(called)
	}
	for name, want := range map[string]float64{modelTokens: 15, modelCost: 0.25, modelDuration: 2, callDuration: 1, nodeDuration: 3, runDuration: 9} {
		sum := 0.0
		for _, p := range out.meter.instruments[name].points {
			sum += p.sum
		}
		if sum != want {
			t.Errorf("%s is %v, want %v", name, sum, want)
		}
	}
}

// TestItemsOfABatchDoWhatTheirNodeDoes holds that each call of a tool is one, also for an item.
func TestItemsOfABatchDoWhatTheirNodeDoes(t *testing.T) {
	out := translate(t, false, began+
		`{"v":1,"seq":2,"event":"node_started","run":"r1","time":"2026-11-23T12:00:01Z","node":"each","span_id":"0000000000000001","type":"mcp-s-t","mcp":{"server":"s","tool":"read_it"},"items":1,"attempt":1}
{"v":1,"seq":3,"event":"item_completed","run":"r1","time":"2026-11-23T12:00:03Z","node":"each","item":0,"span_id":"0000000000000002","attempt":1,"duration_ms":2000}
{"v":1,"seq":4,"event":"node_completed","run":"r1","time":"2026-11-23T12:00:04Z","node":"each","action":"default"}
`+finished("completed"))
	item, batch := out.spans["tools/call read_it"], out.spans["each"]
	if item == nil || batch == nil || attribute(item, genTool) != "read_it" || attribute(batch, genTool) != "" || hex.EncodeToString(item.ParentSpanId) != "0000000000000001" {
		t.Error(out.all)
	}
}

// TestAnyInputIsTaken holds that what is no event, or of a run that is not known, changes nothing.
func TestAnyInputIsTaken(t *testing.T) {
	out := translate(t, false, "text\n\n[]\n{\"v\":2,\"event\":\"run_started\",\"run\":\"r1\"}\n"+strings.ReplaceAll(finished("failed"), `"r1"`, `"other"`)+
		`{"v":1,"event":"run_refused","run":"","time":"2026-11-23T12:00:00Z","success":false,"error":{"type":"validation_error","message":"no"}}`)
	if len(out.all) != 0 || out.strange != 3 || out.unknown != 1 || len(out.records) != 1 || out.records[0].EventName != "pflow.run.refused" {
		t.Errorf("%+v", out)
	}
}

// TestALongLineEndsItsSpan holds that of a line that is too long to be parsed, the beginning counts.
func TestALongLineEndsItsSpan(t *testing.T) {
	var tee strings.Builder
	stream := began + `{"v":1,"seq":2,"event":"node_started","run":"r1","time":"2026-11-23T12:00:01Z","node":"a","span_id":"0000000000000001","type":"shell","attempt":1}` + "\n" +
		`{"v":1,"seq":3,"event":"node_completed","run":"r1","time":"2026-11-23T12:00:04Z","node":"a","attempt":1,"action":"default","outputs":{"stdout":"` + strings.Repeat("x", 3*maxWhole) + `"},"duration_ms":1}` + "\n"
	var spans []*trace.Span
	strange := 0
	tr := &Translator{Span: func(s *trace.Span) { spans = append(spans, s) }}
	if err := read(stream, &tee, tr, &strange); err != nil {
		t.Fatal(err)
	}
	if len(spans) != 1 || spans[0].EndTimeUnixNano-spans[0].StartTimeUnixNano != 3e9 || strange != 0 || tee.String() != stream {
		t.Errorf("%d strange lines, %d bytes of %d, spans %v", strange, tee.Len(), len(stream), spans)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(began + finished("completed"))
	f.Add(`{"v":1,"event":"item_completed","run":"r1","node":"a[0]/b#2","item":-1,"duration_ms":1e300}`)
	f.Fuzz(func(t *testing.T, stream string) {
		var tee strings.Builder
		x := &exporter{}
		tr := &Translator{Values: true, Span: x.span, Record: x.record, Meter: NewMeter(noon)}
		strange := 0
		if err := read(stream, &tee, tr, &strange); err != nil || tee.String() != stream {
			t.Fatalf("%v: %q became %q", err, stream, tee.String())
		}
		tr.Close()
		for _, s := range x.spans {
			if len(s.SpanId) != 8 || len(s.TraceId) != 16 || s.EndTimeUnixNano < s.StartTimeUnixNano {
				t.Errorf("%q: %v", stream, s)
			}
		}
		for _, m := range tr.Meter.Collect(noon) {
			if !gjson.Valid(`"` + m.Name + `"`) {
				t.Error(m)
			}
		}
	})
}
