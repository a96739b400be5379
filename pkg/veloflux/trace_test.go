package veloflux

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// traced returns the line that a call of pipelines.create leaves.
func traced(t *testing.T, mode SQLMode, args string, failure *Error, secrets ...string) string {
	t.Helper()
	return tracedCall(t, mode, "pipelines.create", args, failure, secrets...)
}

func tracedCall(t *testing.T, mode SQLMode, tool, args string, failure *Error, secrets ...string) string {
	t.Helper()
	var out bytes.Buffer
	var reported error
	tr := newTracer(WriterSink(&out), mode, allTools(), func() []string { return secrets }, func(err error) { reported = err })
	tr.record(KindToolCall, tool, json.RawMessage(args), time.Now(), false, failure)
	if reported != nil {
		t.Fatal(reported)
	}
	return out.String()
}

func argsOf(t *testing.T, line string) string {
	t.Helper()
	var e struct{ Args json.RawMessage }
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return string(e.Args)
}

func messageOf(t *testing.T, line string) string {
	t.Helper()
	var e Entry
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return e.ErrorMessage
}

func TestEntryIsOneLineWithItsFieldsInOrder(t *testing.T) {
	var out bytes.Buffer
	tr := newTracer(WriterSink(&out), SQLRaw, allTools(), nil, nil)
	started := time.Now().Add(-1500 * time.Millisecond)
	tr.record(KindToolCall, "pipelines.create", json.RawMessage("{ \"id\" : \"a<b\",\n\"n\": 1.50 }"), started, false, &Error{Code: CodeConflict, Message: "no\nway"})
	tr.record(KindResourceRead, "veloFlux://streams/snapshot", json.RawMessage(`{"uri":"veloFlux://streams/snapshot"}`), time.Now(), true, nil)
	tr.record(KindToolCall, "streams.list", nil, time.Now(), false, nil)
	lines := strings.SplitAfter(out.String(), "\n")
	if len(lines) != 4 || lines[3] != "" {
		t.Fatalf("got %q", lines)
	}
	var e Entry
	if err := json.Unmarshal([]byte(lines[0]), &e); err != nil || e.TS != started.UnixMilli() || e.LatencyMS < 1500 {
		t.Errorf("%v %+v", err, e)
	}
	want := fmt.Sprintf(`{"ts_ms":%d,"kind":"tool_call","name":"pipelines.create","ok":false,"latency_ms":%d,"error_code":"conflict","error_message":"no\nway","args":{"id":"a<b","n":1.50}}`+"\n", e.TS, e.LatencyMS)
	if lines[0] != want {
		t.Errorf("got  %s\nwant %s", lines[0], want)
	}
	if !strings.HasSuffix(lines[1], `"args":{"uri":"veloFlux://streams/snapshot"},"cached":true}`+"\n") || strings.Contains(lines[1], "error") {
		t.Error(lines[1])
	}
	if !strings.HasSuffix(lines[2], `"args":{}}`+"\n") {
		t.Error(lines[2])
	}
}

func TestArgumentsAreAlwaysAnObject(t *testing.T) {
	for in, want := range map[string]string{
		"":                             `{}`,
		" \n":                          `{}`,
		"null":                         `{}`,
		"[1, 2]":                       `{"arguments":[1,2]}`,
		`"x"`:                          `{"arguments":"x"}`,
		`7`:                            `{"arguments":7}`,
		`{"a": 1e400, "a":"\u0041"}`:   `{"a":1e400,"a":"\u0041"}`,
		"{\"a\":\"\xff\"}":             `{"a":"` + "\uFFFD" + `"}`,
		`{"id":`:                       `{"arguments":"{\"id\":"}`,
		"{" + strings.Repeat("é", 300): `{"arguments":"{` + strings.Repeat("é", 199) + `"}`,
		`{"x":1,"password":"hunter2`:   `{"arguments":"{\"x\":1,\"password<redacted>"}`,
	} {
		if got := argsOf(t, traced(t, SQLRaw, in, nil)); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func TestLargeArgumentsAreLeftOut(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	args := `{"id":"p1","name":"` + strings.Repeat("n", 201) + `","pipeline_id":7,"uri":"u","sql":"` + long + `","sinks":[{"password":"hunter22"}]}`
	want := fmt.Sprintf(`{"omitted_bytes":%d,"id":"p1","uri":"u"}`, len(args))
	line := traced(t, SQLRaw, args, &Error{Code: CodeToolFailed, Message: "bad hunter22"})
	if got := argsOf(t, line); got != want {
		t.Errorf("got %s", got)
	}
	if strings.Contains(line, "hunter22") {
		t.Error(line)
	}
	read := fmt.Sprintf(`{"id":"//<redacted>@h","sql":%q}`, long[:maxArguments-40])
	if got := argsOf(t, traced(t, SQLRaw, strings.Replace(read, "<redacted>", "C", 1), nil)); got != read {
		t.Errorf("%d bytes of arguments were left out: %.100s", len(read), got)
	}
	deep := `{"id":"d","x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}"
	if got, want := argsOf(t, traced(t, SQLRaw, deep, nil)), fmt.Sprintf(`{"omitted_bytes":%d,"id":"d"}`, len(deep)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestArgumentsWithALongSecretAreLeftOut(t *testing.T) {
	long := strings.Repeat("secret ", maxSecret/7+1)
	args := `{"id":"p","password":"` + long + `"}`
	line := traced(t, SQLRaw, args, &Error{Code: CodeToolFailed, Message: "no " + long})
	if got := argsOf(t, line); got != fmt.Sprintf(`{"omitted_bytes":%d,"id":"p"}`, len(args)) || strings.Contains(line, "secret ") {
		t.Error(line)
	}
}

func TestLongNamesAndMessagesAreCut(t *testing.T) {
	var got Entry
	tr := newTracer(SinkFunc(func(e Entry) error { got = e; return nil }), SQLRaw, allTools(), nil, nil)
	tr.record(KindToolCall, strings.Repeat("€", 1<<20), nil, time.Now(), false, &Error{Message: strings.Repeat("€", 1<<20)})
	if len(got.Name) > maxName+3 || len(got.ErrorMessage) > maxMessage+3 || !strings.HasSuffix(got.Name, "€…") || got.ErrorCode != CodeToolFailed {
		t.Errorf("%d %d %s", len(got.Name), len(got.ErrorMessage), got.ErrorCode)
	}
}

func TestNothingToRecordToGivesTheName(t *testing.T) {
	tr := newTracer(nil, SQLRaw, nil, func() []string { return []string{"hunter22"} }, nil)
	if got := tr.record(KindToolCall, "tool hunter22 tcp://u:p@h", nil, time.Now(), false, nil); got != "tool <redacted> tcp://<redacted>@h" {
		t.Error(got)
	}
}

func TestAFailingSinkIsToldOnce(t *testing.T) {
	var fails error
	panics := false
	var reported []string
	tr := newTracer(SinkFunc(func(Entry) error {
		if panics {
			panic("oh")
		}
		return fails
	}), SQLRaw, nil, nil, func(err error) { reported = append(reported, err.Error()) })
	for _, err := range []error{nil, errors.New("full"), errors.New("full"), nil, errors.New("full again"), nil} {
		fails = err
		tr.record(KindToolCall, "x", nil, time.Now(), false, nil)
	}
	panics = true
	tr.record(KindToolCall, "x", nil, time.Now(), false, nil)
	if got := strings.Join(reported, "; "); got != "full; full again; the sink of the trace failed: oh" {
		t.Error(got)
	}
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) - 1, nil }

func TestWriterSinkWritesEachLineAtOnce(t *testing.T) {
	if err := WriterSink(shortWriter{}).Record(Entry{}); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	if err := WriterSink(io.Discard).Record(Entry{Args: json.RawMessage("{")}); err == nil {
		t.Error("a line that is no JSON was written")
	}
	writes := 0
	sink := WriterSink(writerFunc(func(p []byte) (int, error) { // not safe for concurrent use
		writes++
		if !json.Valid(p) || bytes.Count(p, []byte("\n")) != 1 {
			t.Errorf("got %q", p)
		}
		return len(p), nil
	}))
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if err := sink.Record(Entry{Kind: KindToolCall}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if writes != 50 {
		t.Errorf("%d writes", writes)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

var timeOfTest = time.UnixMilli(1_700_000_000_000)
