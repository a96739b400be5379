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
	// maxName and maxMessage are how many bytes of a name and of a message are kept. With maxArguments they keep a line
	// under 1 MiB.
	maxName, maxMessage = 2000, 32 << 10
)

// maxSecrets is how many secrets of one call are looked for. The entry of one with more says next to nothing.
const maxSecrets = 100

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

// SQLMode says what becomes of SQL in a trace.
type SQLMode string

// The modes: SQL as it is, its digest as sql_hash, or nothing of it. In the last two no other text is shown either that
// might be SQL: of the arguments id, name, pipeline_id and uri, numbers and booleans alone, and error messages without the
// Manager's own words.
const (
	SQLRaw    SQLMode = "raw"
	SQLHash   SQLMode = "hash"
	SQLRedact SQLMode = "redact"
)

// cleaner takes out of one entry what can be told by where it stands: SQL, values under secret names, the userinfo of URLs.
// What it finds to be secret it keeps, so that it can be looked for everywhere else.
type cleaner struct {
	mode SQLMode
	// declared are the names of the tool's arguments, nil when it is not known.
	declared []string
	secrets  []string
	// sql says that a text is SQL.
	sql bool
	// excerpt says that the arguments are a text of which only the beginning may stay, unread that they were left out.
	excerpt, unread bool
}

// hides says whether SQL must not be seen. An unknown mode hides it.
func (c *cleaner) hides() bool { return c.mode != SQLRaw && c.mode != "" }

// name is the name of what was asked for. One that there is not may be anything.
func (c *cleaner) name(name string) string {
	if c.declared == nil && (c.unread || c.hides() && !plainWord(name)) {
		return redact.Mark
	}
	return c.text(fault.Truncate(strings.ToValidUTF8(name, "\uFFFD"), 4*maxName))
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
	tools    []Tool
	secrets  func() []string
	complain func(error)

	mu       sync.Mutex
	failing  bool             // the last entry could not be recorded, and that was said
	known    []string         // what standing knows
	standing *redact.Redactor // for entries that hold no secret of their own
}

// newTracer makes a tracer. The tools are those whose arguments are known, the secrets those of the Manager's client, as
// they are at each call; a failing sink is told to complain once, and again only after it has worked in between. All but
// the mode may be nil.
func newTracer(sink Sink, mode SQLMode, tools []Tool, secrets func() []string, complain func(error)) *tracer {
	return &tracer{sink: sink, mode: mode, tools: tools, secrets: secrets, complain: complain}
}

// record makes the entry of a call that has just ended, and gives the name that it has there. It never fails.
func (t *tracer) record(kind, name string, args json.RawMessage, started time.Time, cached bool, failure *Error) string {
	took := max(0, time.Since(started).Milliseconds())
	e := Entry{TS: started.UnixMilli(), Kind: kind, OK: failure == nil, LatencyMS: took, Cached: cached}
	c := &cleaner{mode: t.mode, declared: t.declared(kind, name)}
	e.Args = c.arguments(args)
	if len(c.secrets) > maxSecrets {
		e.Args, c.secrets, c.unread = fmt.Appendf(nil, `{"omitted_bytes":%d}`, len(args)), nil, true
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
	if e.Args, _ = r.JSON(e.Args); c.excerpt && !c.unread {
		e.Args = shortened(e.Args)
	}
	if failure != nil {
		e.ErrorMessage = cmp.Or(fault.Truncate(r.Text(e.ErrorMessage), maxMessage), "no message")
	}
	t.report(t.write(e))
	return e.Name
}

// declared are the names of the arguments of a call or a read; nil where there is no such tool.
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

// redactor knows the Manager's secrets and those of an entry. What an entry taught is not kept for the next.
func (t *tracer) redactor(own []string) *redact.Redactor {
	var known []string
	if t.secrets != nil {
		known = t.secrets()
	}
	if len(own) > 0 {
		return knowing(slices.Concat(known, own))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.standing == nil || !slices.Equal(t.known, known) {
		t.standing, t.known = knowing(known), known
	}
	return t.standing
}

func knowing(secrets []string) *redact.Redactor {
	r := redact.New()
	r.AddAll("secret", secrets...)
	return r
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
