package event

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Header holds the fields of an event that decide whether the whole event needs to be read.
type Header struct {
	Event Kind
	Node  string
	// Item is -1 for an event that is not about an item.
	Item, Iteration int
	InputDigest     string
	// IterationDigest is that of the last iteration of a loop.
	IterationDigest string
	// Usage is the run's use of language models so far, or nil in an event that does not have it.
	Usage *Usage
	// WillRetry, Handled and Outdated are false if the event does not have them.
	WillRetry, Handled, Outdated bool
	// At is the offset of the line in the stream, Size its length in bytes.
	At   int64
	Size int
}

// Skim is like Next but returns the header only, several times as fast.
func (r *Reader) Skim() (Header, error) {
	var m Header
	v := 0
	line, err := r.next(func(line []byte) bool {
		m, v = Header{Item: -1}, 0
		if !gjson.ValidBytes(line) {
			return false
		}
		gjson.ParseBytes(line).ForEach(func(key, value gjson.Result) bool {
			switch key.Str {
			case "v":
				v = int(value.Num)
			case "event":
				m.Event = Kind(value.Str)
			case "node":
				m.Node = strings.Clone(value.Str) // without a copy it would keep the line in memory
			case "item":
				m.Item = int(value.Num)
			case "iteration":
				m.Iteration = int(value.Num)
			case "input_digest":
				m.InputDigest = strings.Clone(value.Str)
			case "iteration_digest":
				m.IterationDigest = strings.Clone(value.Str)
			case "usage":
				if u := new(Usage); json.Unmarshal([]byte(value.Raw), u) == nil {
					m.Usage = u
				}
			case "will_retry":
				m.WillRetry = value.Bool()
			case "handled":
				m.Handled = value.Bool()
			case "outdated":
				m.Outdated = value.Bool()
			}
			return true
		})
		return m.Event != ""
	})
	if err == nil && v != Version {
		err = r.version(v)
	}
	if err != nil {
		return Header{}, err
	}
	m.At, m.Size = r.at-int64(len(line)), len(line)
	return m, nil
}

// Settles reports what Event.Settles reports of the whole event.
func (m *Header) Settles() bool {
	switch m.Event {
	case NodeCompleted, NodeReused:
		return true
	case NodeFailed:
		return m.Item < 0 && !m.WillRetry && m.Handled
	}
	return false
}

// Read reads the whole event from the stream that was skimmed.
func (m *Header) Read(from io.ReaderAt) (*Event, error) {
	line := make([]byte, m.Size)
	if _, err := from.ReadAt(line, m.At); err != nil {
		return nil, fault.New(fault.Internal, "Cannot read the event stream again: %v", fault.Reason(err))
	}
	if e, ok := parseCheckpoint(line); ok {
		return e, nil
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fault.New(fault.Protocol, "An event of the stream has changed since it was first read")
	}
	return &e, nil
}

// parseCheckpoint parses an event that has no other fields than a checkpoint, in a third of the time of encoding/json: a
// resume reads one for each node. ok is false for any other event, and if a field has the wrong type.
func parseCheckpoint(line []byte) (e *Event, ok bool) {
	e = &Event{}
	ok = gjson.ValidBytes(line)
	gjson.ParseBytes(line).ForEach(func(key, value gjson.Result) bool {
		text, number := value.Type == gjson.String, value.Type == gjson.Number
		whole := number && value.Num == float64(int64(value.Num))
		switch key.Str {
		case "v":
			e.V, ok = int(value.Num), whole
		case "seq":
			e.Seq, ok = int64(value.Num), whole
		case "event":
			e.Event, ok = Kind(value.Str), text
		case "run":
			e.Run, ok = value.Str, text
		case "time":
			var err error
			e.Time, err = time.Parse(time.RFC3339Nano, value.Str)
			ok = text && err == nil
		case "node":
			e.Node, ok = value.Str, text
		case "item":
			n := int(value.Num)
			e.Item, ok = &n, whole
		case "iteration":
			e.Iteration, ok = int(value.Num), whole
		case "span_id":
			e.SpanID, ok = value.Str, text
		case "attempt":
			e.Attempt, ok = int(value.Num), whole
		case "action":
			e.Action, ok = value.Str, text
		case "outputs":
			e.Outputs, ok = json.RawMessage(value.Raw), value.IsObject()
		case "input_digest":
			e.InputDigest, ok = value.Str, text
		case "duration_ms":
			ms := value.Num
			e.DurationMS, ok = &ms, number
		case "iteration_digest":
			e.IterationDigest, ok = value.Str, text
		case "ran_at":
			e.RanAt, ok = value.Str, text
		case "from_run":
			e.FromRun, ok = value.Str, text
		case "redacted":
			e.Redacted, ok = value.Bool(), value.IsBool()
		case "cached":
			e.Cached, ok = value.Bool(), value.IsBool()
		default:
			ok = false
		}
		return ok
	})
	return e, ok && e.Event != ""
}
