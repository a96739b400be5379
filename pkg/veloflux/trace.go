package veloflux

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// The kinds of an Entry.
const (
	KindToolCall     = "tool_call"
	KindResourceRead = "resource_read"
)

// Entry is the trace's record of one tool call or one read of a resource. It contains no credentials.
type Entry struct {
	// TS is the start of the call in milliseconds since the Unix epoch.
	TS        int64  `json:"ts_ms"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	OK        bool   `json:"ok"`
	LatencyMS int64  `json:"latency_ms"`
	// ErrorCode and ErrorMessage are set if and only if OK is false.
	ErrorCode    Code   `json:"error_code,omitempty"`
	ErrorMessage string `json:"error_message,omitempty"`
	// Args is a JSON object: the arguments of the tool, or {"uri":…} for a read of a resource.
	Args json.RawMessage `json:"args"`
	// Cached is true if a read was served without a request to the Manager.
	Cached bool `json:"cached,omitempty"`
}

const (
	// maxName and maxMessage are the most bytes of a name and of a message. Together with maxArguments they keep a line
	// below 1 MiB.
	maxName, maxMessage = 2000, 32 << 10
)

// maxSecrets is the most secrets that the arguments of a call may contain. If there are more, the arguments are omitted.
const maxSecrets = 100

// line returns the entry as one line of NDJSON.
func (e Entry) line() ([]byte, error) {
	if e.Args == nil {
		e.Args = json.RawMessage("{}")
	}
	raw, err := rawjson.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("the trace entry of %s cannot be written as JSON: %w", e.Name, err)
	}
	return append(raw, '\n'), nil
}

// SQLMode is the way in which SQL appears in a trace.
type SQLMode string

// The modes: the SQL itself, its SHA-256 as sql_hash, or nothing. The last two also hide every other text that might be
// SQL: all texts in arguments except id, name, pipeline_id and uri, and the Manager's text in error messages.
const (
	SQLRaw    SQLMode = "raw"
	SQLHash   SQLMode = "hash"
	SQLRedact SQLMode = "redact"
)

// cleaner removes from one entry what its place shows to be secret: values under secret names and the userinfo of URLs,
// and SQL if the mode hides it. It collects the secrets that it finds, so that they can be looked for everywhere else.
type cleaner struct {
	mode SQLMode
	// declared are the names of the tool's arguments, or nil if the tool is unknown.
	declared []string
	secrets  []string
	// excerpt means that the arguments are a text and only its beginning is kept; omitted means that they are left out.
	excerpt, omitted bool
}

// hidesSQL reports whether the entry must not show SQL. An unknown mode hides it.
func (c *cleaner) hidesSQL() bool { return c.mode != SQLRaw && c.mode != "" }

// name returns the name of the tool or resource without secrets. The name of an unknown tool may be any text, including
// SQL.
func (c *cleaner) name(name string) string {
	if c.declared == nil && (c.omitted || c.hidesSQL() && !plainWord(name)) {
		return redact.Mark
	}
	return c.text(fault.Truncate(strings.ToValidUTF8(name, "\uFFFD"), 4*maxName))
}

// Sink receives the entries of a trace. Record must be safe for concurrent use. The runtime logs its error, which does not
// fail the call that the entry is about.
type Sink interface{ Record(Entry) error }

// SinkFunc is a function as a Sink.
type SinkFunc func(Entry) error

// Record calls the function.
func (f SinkFunc) Record(e Entry) error { return f(e) }

// WriterSink returns a Sink that writes each entry as a line of NDJSON, by one Write. The Writes are not concurrent.
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
	sink      Sink
	mode      SQLMode
	tools     []Tool
	secrets   func() []string
	onFailure func(error)

	mu      sync.Mutex
	failing bool             // the last entry could not be recorded, which was reported
	known   []string         // the secrets that standing removes
	shared  *redact.Redactor // for entries without secrets of their own
}

// newTracer returns a tracer. tools are those whose arguments are known; secrets returns the current secrets of the
// Manager's client. complain is called when the sink begins to fail, and again only after it has worked in between. All
// arguments except the mode may be nil.
func newTracer(sink Sink, mode SQLMode, tools []Tool, secrets func() []string, complain func(error)) *tracer {
	return &tracer{sink: sink, mode: mode, tools: tools, secrets: secrets, onFailure: complain}
}

// record records a call or a read that has just ended, and returns the name that its entry shows. It never fails.
func (t *tracer) record(kind, name string, args json.RawMessage, started time.Time, cached bool, failure *Error) string {
	took := max(0, time.Since(started).Milliseconds())
	e := Entry{TS: started.UnixMilli(), Kind: kind, OK: failure == nil, LatencyMS: took, Cached: cached}
	c := &cleaner{mode: t.mode, declared: t.declared(kind, name)}
	e.Args = c.arguments(args)
	if len(c.secrets) > maxSecrets {
		e.Args, c.secrets, c.omitted = fmt.Appendf(nil, `{"omitted_bytes":%d}`, len(args)), nil, true
	}
	name = c.name(name)
	if failure != nil {
		e.ErrorCode, e.ErrorMessage = cmp.Or(failure.Code, CodeToolFailed), c.message(failure)
	}
	r := t.redactor(c.secrets)
	e.Name = fault.Truncate(r.Text(name), maxName)
	if t.sink == nil {
		return e.Name
	}
	if e.Args, _ = r.JSON(e.Args); c.excerpt && !c.omitted {
		e.Args = shortened(e.Args)
	}
	if failure != nil {
		e.ErrorMessage = cmp.Or(fault.Truncate(r.Text(e.ErrorMessage), maxMessage), "no message")
	}
	t.report(t.write(e))
	return e.Name
}

// declared returns the names of the arguments of a call or a read, or nil if the tool is unknown.
func (t *tracer) declared(kind, name string) []string {
	if kind == KindResourceRead {
		return []string{"uri"}
	}
	at := slices.IndexFunc(t.tools, func(tool Tool) bool { return tool.dotted == name })
	if at < 0 {
		return nil
	}
	names := []string{}
	gjson.GetBytes(t.tools[at].InputSchema, "properties").ForEach(func(key, _ gjson.Result) bool {
		names = append(names, key.Str)
		return true
	})
	return names
}

// redactor returns a redactor for the Manager's secrets and those of one entry. The latter are not kept for later entries.
func (t *tracer) redactor(own []string) *redact.Redactor {
	var known []string
	if t.secrets != nil {
		known = t.secrets()
	}
	if len(own) > 0 {
		return newRedactor(slices.Concat(known, own))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shared == nil || !slices.Equal(t.known, known) {
		t.shared, t.known = newRedactor(known), known
	}
	return t.shared
}

func newRedactor(secrets []string) *redact.Redactor {
	r := redact.New()
	r.AddAll("secret", secrets...)
	return r
}

// write passes the entry to the sink. It turns a panic of the caller's sink into an error.
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
	if err != nil && !said && t.onFailure != nil {
		t.onFailure(err)
	}
}

// write writes a line with one Write. A short write is an error.
func write(w io.Writer, line []byte) error {
	n, err := w.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	return err
}
