// Package trace implements W3C Trace Context (https://www.w3.org/TR/trace-context/): the place of a run and its nodes in a
// trace that began elsewhere, or begins with the run.
package trace

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
)

// Variable is the environment variable that carries a span to a child process. State is passed on unchanged within the same
// trace.
const (
	Variable = "TRACEPARENT"
	State    = "TRACESTATE"
)

// Span is one unit of work in a trace.
type Span struct {
	// Trace has 32 hexadecimal digits, ID and Parent have 16. Parent is empty for the first span of a trace.
	Trace, ID, Parent string
	// flags are the trace's flags: whether it is recorded.
	flags string
}

// sampled are the flags of a trace that is recorded (section 3.2.2.5.1). A trace that begins with a run is: its journal has all spans,
// and children that follow the decision of their parent send theirs.
const sampled = "01"

// Begin returns the span of a run: a child of the span that a traceparent names, or the first of a new trace if that is
// empty or invalid (section 3.2.2.4).
func Begin(parent string) Span {
	if trace, id, flags, ok := parse(parent); ok {
		return Span{Trace: trace, ID: newID(8, rand.Uint64), Parent: id, flags: flags}
	}
	return Span{Trace: newID(16, rand.Uint64), ID: newID(8, rand.Uint64), flags: sampled}
}

// Child returns a span below this one, with an id from random.
func (s Span) Child(random func() uint64) Span {
	return Span{Trace: s.Trace, ID: newID(8, random), Parent: s.ID, flags: s.flags}
}

// String returns the traceparent by which others become children of the span (section 3.2).
func (s Span) String() string { return "00-" + s.Trace + "-" + s.ID + "-" + s.flags }

// parse parses a traceparent. Of a later version it parses the fields of this version (section 4).
func parse(text string) (trace, id, flags string, ok bool) {
	if len(text) < 55 || text[2] != '-' || text[35] != '-' || text[52] != '-' || text[:2] == "ff" || text[:2] == "00" && len(text) > 55 ||
		len(text) > 55 && text[55] != '-' {
		return "", "", "", false
	}
	trace, id, flags = text[3:35], text[36:52], text[53:55]
	for _, part := range []string{text[:2], trace, id, flags} {
		if strings.Trim(part, "0123456789abcdef") != "" {
			return "", "", "", false
		}
	}
	if strings.Trim(trace, "0") == "" || strings.Trim(id, "0") == "" {
		return "", "", "", false
	}
	return trace, id, flags, true
}

// newID returns an id of the given length in bytes, which are not all zero. It need not be hard to guess.
func newID(bytes int, random func() uint64) string {
	b := make([]byte, 0, 16)
	for len(b) < bytes {
		b = binary.BigEndian.AppendUint64(b, random()|1)
	}
	return hex.EncodeToString(b)
}
