package veloflux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/redact"
)

// The kinds of an Entry.
const (
	KindToolCall     = "tool_call"
	KindResourceRead = "resource_read"
)

// Entry is what the trace says of one tool call or one read of a resource. No credential is in it.
type Entry struct {
	// TS is the start of the call in milliseconds since 1970.
	TS        int64  `json:"ts_ms"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	OK        bool   `json:"ok"`
	LatencyMS int64  `json:"latency_ms"`
	// ErrorCode and ErrorMessage are set when OK is false, and only then.
	ErrorCode    Code   `json:"error_code,omitempty"`
	ErrorMessage string `json:"error_message,omitempty"`
	// Args is a JSON object: the arguments of the tool, or {"uri":…} for a read.
	Args json.RawMessage `json:"args"`
	// Cached says that a read was served without a request to the Manager.
	Cached bool `json:"cached,omitempty"`
}

const (
	// maxLine is how many bytes the line of an entry has at most, its newline included.
	maxLine = 1 << 20
	// maxName and maxMessage are how many bytes of a name and of a message are kept.
	maxName, maxMessage = 2000, 32 << 10
)

// maxSecrets is how many secrets of one call are looked for. The entry of one with more says next to nothing.
const maxSecrets = 500

// line is the entry as one line of NDJSON.
func (e Entry) line() ([]byte, error) {
	if e.Args == nil {
		e.Args = json.RawMessage("{}")
	}
	raw, err := rawjson.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("the trace entry of %s is no JSON: %w", e.Name, err)
	}
	return append(raw, '\n'), nil
}

// Sink takes the entries of a trace. Record may be called by several goroutines at a time. Its error is reported where the
// runtime reports such things, and never fails the call that the entry is about.
type Sink interface{ Record(Entry) error }

// SinkFunc is a function as a Sink.
type SinkFunc func(Entry) error

// Record calls the function.
func (f SinkFunc) Record(e Entry) error { return f(e) }

// WriterSink writes NDJSON: each entry with one Write, one after another.
func WriterSink(w io.Writer) Sink { return &writerSink{w: w} }

type writerSink struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *writerSink) Record(e Entry) error {
	line, err := e.line()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return write(s.w, line)
}

// tracer makes entries and hands them to a sink.
type tracer struct {
	sink     Sink
	mode     SQLMode
	secrets  func() []string
	complain func(error)

	mu       sync.Mutex
	failing  bool             // the last entry could not be recorded, and that was said
	known    []string         // what standing knows
	standing *redact.Redactor // for entries that hold no secret of their own
}

// newTracer makes a tracer. The secrets are those of the Manager's client, as they are at each call; a failing sink is told
// to complain once, and again only after it has worked in between. Both may be nil.
func newTracer(sink Sink, mode SQLMode, secrets func() []string, complain func(error)) *tracer {
	return &tracer{sink: sink, mode: mode, secrets: secrets, complain: complain}
}

// record makes the entry of a call that has just ended. It never fails.
func (t *tracer) record(kind, name string, args json.RawMessage, started time.Time, cached bool, failure *Error) {
	if t == nil || t.sink == nil {
		return
	}
	took := max(0, time.Since(started).Milliseconds())
	e := Entry{TS: started.UnixMilli(), Kind: kind, OK: failure == nil, LatencyMS: took, Cached: cached}
	c := &cleaner{mode: t.mode}
	e.Args = c.arguments(args)
	name = c.text(strings.ToValidUTF8(name, "\uFFFD"))
	message := ""
	if failure != nil {
		message = c.message(failure)
	}
	if len(c.secrets) > maxSecrets {
		e.Args, name, message, c = reduced(nil, len(args)), redact.Mark, redact.Mark, &cleaner{}
	}
	r := t.redactor(c.secrets)
	e.Args, _ = r.JSON(e.Args)
	if c.excerpt {
		e.Args = excerpted(e.Args)
	}
	e.Name = begin(r.Text(name), maxName)
	if failure != nil {
		e.ErrorCode = failure.Code
		e.ErrorMessage = begin(c.withoutShort(r.Text(message)), maxMessage)
		if e.ErrorCode == "" {
			e.ErrorCode = CodeToolFailed
		}
		if e.ErrorMessage == "" {
			e.ErrorMessage = "no message"
		}
	}
	t.report(t.write(e.fitting(len(args))))
}

// fitting is the entry with arguments that are not too long or too deep for a line; they had so many bytes.
func (e Entry) fitting(size int) Entry {
	if line, err := e.line(); err != nil || len(line) > maxLine || depth(e.Args) > maxDepth {
		e.Args = reduced(e.Args, size)
	}
	return e
}

// write hands the entry to the sink. A sink of the caller's that panics must not fail the call either.
func (t *tracer) write(e Entry) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the sink of the trace failed: %v", p)
		}
	}()
	return t.sink.Record(e)
}

func (t *tracer) report(err error) {
	t.mu.Lock()
	said := t.failing
	t.failing = err != nil
	t.mu.Unlock()
	if err != nil && !said && t.complain != nil {
		t.complain(err)
	}
}

// write is one Write, of which a part is an error.
func write(w io.Writer, line []byte) error {
	n, err := w.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	return err
}

// begin is the first so many bytes of a text, in whole characters, and … where that is not all.
func begin(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return string(bytes.ToValidUTF8([]byte(text[:most]), nil)) + "…"
}
