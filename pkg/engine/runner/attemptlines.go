package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// attemptLines writes the lines of an attempt.
type attemptLines struct {
	to io.Writer

	mu       sync.Mutex
	err      error
	reported time.Time
	// values counts the long values.
	values int
}

func (a *attemptLines) line(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.to.Write(b); err != nil && a.err == nil {
		a.err = err
	}
}

// progress reports how far the node is, at most ten times a second.
func (a *attemptLines) progress(done, total float64, message string) {
	a.mu.Lock()
	soon := time.Since(a.reported) < 100*time.Millisecond
	if !soon {
		a.reported = time.Now()
	}
	a.mu.Unlock()
	if !soon {
		a.report(map[string]any{"done": done, "total": total, "message": fault.Truncate(message, node.MaxPiece)})
	}
}

// used reports the use of language models.
func (a *attemptLines) used(usage json.RawMessage) {
	a.report(map[string]any{"llm_usage": usage})
}

func (a *attemptLines) report(step map[string]any) {
	if raw, err := rawjson.Marshal(map[string]any{"progress": step}); err == nil {
		a.line(append(raw, '\n'))
	}
}

// log returns a writer for the output of the node's processes on one stream.
func (a *attemptLines) log(stream string) io.Writer { return &attemptLog{a, stream} }

type attemptLog struct {
	lines  *attemptLines
	stream string
}

func (l *attemptLog) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), node.MaxPiece)
		l.lines.line(node.LogLine(l.stream, rest[:n]))
		rest = rest[n:]
	}
	return len(p), nil
}

// output returns what collects an output of the node's process. A long one is passed on as it comes.
func (a *attemptLines) output() node.Output {
	o := &attemptOutput{lines: a}
	o.Capture = event.Capture{New: o.begin, Redact: unredacted}
	return o
}

// attemptOutput is an output whose content is sent, in place of being held, as soon as it is long.
type attemptOutput struct {
	event.Capture
	lines *attemptLines
	sent  *sentValue
}

func (o *attemptOutput) begin() (event.Blob, error) {
	o.lines.mu.Lock()
	o.lines.values++
	id := strconv.Itoa(o.lines.values)
	o.lines.mu.Unlock()
	o.sent = &sentValue{lines: o.lines, id: id}
	return o.sent, nil
}

// Value returns the output, or a reference to what was sent: the receiver removes newlines from that.
func (o *attemptOutput) Value(strip bool) (json.RawMessage, error) {
	if o.sent == nil {
		return o.Capture.Value(strip)
	}
	o.sent.strip = strip
	return o.Capture.Value(false)
}

// sentValue sends a long value, and holds its beginning, from which a reference is made.
type sentValue struct {
	lines     *attemptLines
	id        string
	strip     bool
	beginning []byte
}

func (v *sentValue) Write(p []byte) (int, error) {
	v.beginning = append(v.beginning, p[:min(len(p), event.InlineLimit-len(v.beginning))]...)
	for rest := p; len(rest) > 0; {
		n := min(len(rest), node.MaxPiece)
		v.lines.line(node.ValueLine(v.id, rest[:n]))
		rest = rest[n:]
	}
	return len(p), nil
}

// ReadAt reads the beginning.
func (v *sentValue) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(v.beginning).ReadAt(p, at)
}

// Keep ends the value.
func (v *sentValue) Keep() (ref string, err error) {
	v.lines.line(node.ValueEnd(v.id, v.strip))
	return v.id, nil
}

// Discard does nothing: the receiver drops what no output refers to.
func (v *sentValue) Discard() {}

// unredacted is a writer that removes no secrets: the receiver does.
func unredacted(w io.Writer) event.Redacting { return asItIs{w} }

type asItIs struct{ io.Writer }

func (asItIs) Close() error   { return nil }
func (asItIs) Redacted() bool { return false }
