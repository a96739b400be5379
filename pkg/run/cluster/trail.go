package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

// standing is how far a run is: the details of its heartbeats.
type standing struct {
	// Packed are the events to go on from, unless the log has more.
	payload.Packed
	// Log names the file of the shared folder in which the events are as soon as they are known to the worker, once the run has done more than
	// take over what an earlier one had finished. Without a shared folder it is empty.
	Log string `json:"log,omitempty"`
}

// events returns the events to go on from.
func (s standing) events(store *payload.Store) (payload.Packed, error) {
	logged, err := store.Logged(s.Log)
	if err != nil || logged.Empty() {
		return s.Packed, err
	}
	return logged, nil
}

// trail takes the events that pflow-exec run prints, and keeps them as a checkpoint for any machine. Until the run has done more than take
// over what an earlier one had finished, the events of that are the checkpoint.
type trail struct {
	tape *payload.Tape
	// store keeps values that are too long for a line, under a name. stored has their digests.
	store  *payload.Store
	name   string
	stored map[string]bool
	// prior are the events of the run to go on from.
	prior payload.Packed
	// blob returns a long value of a run, to which its events refer.
	blob func(run string) event.Load
	// begun is called at the first event, when the program has read what it was given. Then it is nil.
	begun func()
	stop  func(error)
	// confirm is told the number of the last event that a loss of this machine does not lose. It is nil without a log.
	confirm io.WriteCloser
	// settled gets a value when something has finished that the next heartbeat should have.
	settled chan struct{}

	mu    sync.Mutex
	rest  []byte // the beginning of a line
	lines []byte // whole lines, not yet on the tape
	// held are lines of the stream about nodes that the run takes over. They are worked off when something new comes, so that the run gets
	// there soon: until then the prior events count.
	held     []byte
	advanced bool
	// seq is the number of the last event that was taken, confirmed that of the last one that was confirmed.
	seq, confirmed int64
	// news is set when there is something on the tape that no heartbeat had.
	news bool
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
	seen := len(t.rest) // has no newline
	t.rest = append(t.rest, p...)
	for t.failed == nil {
		n := bytes.IndexByte(t.rest[seen:], '\n')
		if n < 0 {
			break
		}
		end := seen + n + 1
		t.line(t.rest[:end])
		t.rest, seen = t.rest[end:], 0
	}
	if t.tape.Log() != "" {
		t.flush()
		t.acknowledge()
	}
	if t.failed != nil {
		t.rest, t.lines = nil, nil
	}
	return len(p), nil
}

// line takes a line of the stream.
func (t *trail) line(line []byte) {
	head := gjson.GetManyBytes(line, "event", "run", "seq")
	kind := event.Kind(head[0].Str)
	if kind == "" {
		return
	}
	if t.begun != nil {
		t.begun()
		t.begun = nil
	}
	switch kind {
	case event.RunStarted, event.NodeReused:
		if !t.gotFurther() && len(t.held) < maxHeld {
			t.held, t.seq = append(t.held, line...), head[2].Int()
			return
		}
	case event.RunFinished, event.RunRefused:
		if t.last = new(event.Event); json.Unmarshal(line, t.last) != nil {
			t.last = nil
		}
	default:
	}
	for before := range bytes.Lines(t.held) {
		t.keep(before, gjson.GetBytes(before, "run").Str)
	}
	t.held = nil
	t.advanced = t.advanced || kind != event.RunStarted && kind != event.NodeReused
	t.seq = head[2].Int()
	t.keep(line, head[1].Str)
	if kind != event.NodeStarted {
		select {
		case t.settled <- struct{}{}:
		default:
		}
	}
}

// maxHeld is the number of bytes from which on no more lines are held.
const maxHeld = 16 << 20

// keep adds a line of a run to the tape, with its long values.
func (t *trail) keep(line []byte, run string) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	load := t.blob(run)
	refs, size, err := referenced(line, load)
	switch {
	case err != nil:
	case size <= maxInline:
		line, err = event.Inline(line, load)
	default:
		var values []byte
		values, err = storeValues(t.store, t.name, refs, load, t.stored)
		t.lines = append(t.lines, values...)
	}
	if err != nil {
		t.fail(fault.From(err))
		return
	}
	t.lines = append(append(t.lines, line...), '\n')
	if len(t.lines) >= together {
		t.flush()
	}
}

func (t *trail) flush() {
	if len(t.lines) == 0 || t.failed != nil {
		return
	}
	err := t.tape.Append(t.lines)
	if err == nil && t.gotFurther() {
		err = t.tape.Show()
	}
	if err != nil {
		t.fail(fault.From(err))
	}
	t.lines, t.news = t.lines[:0], true
	events := t.packed()
	t.known.Store(&events)
}

// acknowledge tells the program that the events so far are in the log, or are not needed there.
func (t *trail) acknowledge() {
	if t.confirm == nil || t.failed != nil || t.seq == t.confirmed {
		return
	}
	if _, err := fmt.Fprintln(t.confirm, t.seq); err != nil {
		t.fail(fault.From(err))
	}
	t.confirmed = t.seq
}

func (t *trail) fail(f *fault.Fault) {
	t.failed = f
	if t.confirm != nil {
		_ = t.confirm.Close()
	}
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
	t.flush()
	changed, t.news = t.news, false
	return t.packed(), changed
}

// gotFurther reports whether the run has done more than take over what an earlier one had finished; mu must be held.
func (t *trail) gotFurther() bool { return t.advanced || t.prior.Empty() }

// packed returns what is on the tape, or the prior events as long as the run has not got further; mu must be held.
func (t *trail) packed() payload.Packed {
	if !t.gotFurther() {
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
	return standing{events, t.tape.Log()}, due
}
