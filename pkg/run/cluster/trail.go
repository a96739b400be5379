package cluster

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

// trail takes the events that pflow-exec run prints, and keeps them as a checkpoint for any machine. Until the run has done more than take
// over what an earlier one had finished, the events of that are the checkpoint.
type trail struct {
	tape *payload.Tape
	// prior are the events of the run to go on from.
	prior payload.Packed
	// blob returns a long value of a run, to which its events refer.
	blob func(run string) event.Load
	// begun is called at the first event, when the program has read what it was given. Then it is nil.
	begun func()
	stop  func(error)

	mu       sync.Mutex
	rest     []byte // the beginning of a line
	lines    []byte // whole lines, not yet on the tape
	advanced bool
	// sent is when the last heartbeat was due. Only heartbeat uses it.
	sent time.Time
	// known are the events to go on from, for a heartbeat that does not wait for mu.
	known atomic.Pointer[payload.Packed]
	// last is the event that ended the run, or nil.
	last   *event.Event
	failed *fault.Fault
}

func (t *trail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest = append(t.rest, p...)
	for t.failed == nil {
		n := bytes.IndexByte(t.rest[max(0, len(t.rest)-len(p)):], '\n')
		if n < 0 {
			break
		}
		n += max(0, len(t.rest)-len(p)) + 1
		t.line(t.rest[:n])
		t.rest = t.rest[n:]
		p = t.rest
	}
	if t.failed != nil {
		t.rest, t.lines = nil, nil
	}
	return len(p), nil
}

// line takes a line of the stream.
func (t *trail) line(line []byte) {
	head := gjson.GetManyBytes(line, "event", "run")
	kind := event.Kind(head[0].Str)
	if kind == "" {
		return
	}
	if t.begun != nil {
		t.begun()
		t.begun = nil
	}
	whole, err := event.Inline(json.RawMessage(bytes.TrimSuffix(line, []byte("\n"))), t.blob(head[1].Str))
	if err != nil {
		t.fail(fault.From(err))
		return
	}
	t.lines = append(append(t.lines, whole...), '\n')
	switch kind {
	case event.RunStarted, event.NodeReused:
	case event.RunFinished, event.RunRefused:
		t.advanced = true
		if t.last = new(event.Event); json.Unmarshal(line, t.last) != nil {
			t.last = nil
		}
	default:
		t.advanced = true
	}
	if len(t.lines) >= together {
		t.flush()
	}
}

func (t *trail) flush() {
	if len(t.lines) == 0 || t.failed != nil {
		return
	}
	if err := t.tape.Append(t.lines); err != nil {
		t.fail(fault.From(err))
	}
	t.lines = t.lines[:0]
	events := t.packed()
	t.known.Store(&events)
}

func (t *trail) fail(f *fault.Fault) {
	t.failed = f
	t.stop(f)
}

// checkpoint returns the events to go on from. changed reports whether there are events since the last call.
func (t *trail) checkpoint() (events payload.Packed, changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.locked()
}

// locked is checkpoint with mu held.
func (t *trail) locked() (events payload.Packed, changed bool) {
	changed = len(t.lines) > 0
	t.flush()
	return t.packed(), changed
}

// packed returns what is on the tape, or the prior events as long as the run has not got further; mu must be held.
func (t *trail) packed() payload.Packed {
	if !t.advanced && !t.prior.Empty() {
		return t.prior
	}
	return t.tape.Packed()
}

// heartbeat returns the events to go on from for a heartbeat. One is due when there are new events, and from time to time. It does not wait
// while a long line is compressed, and returns those before it: without heartbeats the worker would count as lost.
func (t *trail) heartbeat() (details any, due bool) {
	events := t.prior
	if t.mu.TryLock() {
		events, due = t.locked()
		t.mu.Unlock()
	} else if known := t.known.Load(); known != nil {
		events, due = *known, true
	}
	if due = due || time.Since(t.sent) >= runBeat; due {
		t.sent = time.Now()
	}
	return events, due
}
