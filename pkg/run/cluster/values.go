package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

const (
	// maxInline is the most bytes of long values that the line of an event gets. Quoted, they may be six times as long, and who reads a
	// stream takes lines of event.MaxRead.
	maxInline = event.MaxRead / 8
	// maxValue is the most bytes of a long value.
	maxValue = 2 << 30
)

// storedValue is a line of a tape, before the event that refers to it: a long value that would make the line of that event too long.
type storedValue struct {
	Blob  string         `json:"blob"`
	Value payload.Packed `json:"value"`
}

// storedBegin is how such a line begins, and no event.
var storedBegin = []byte(`{"blob":`)

// referenced returns the references in a value of the stream, also those in the values that they refer to, and the bytes of all.
func referenced(raw json.RawMessage, load event.Load) (all []event.Reference, size int, err error) {
	event.MapReferences(raw, func(ref event.Reference) json.RawMessage {
		all, size = append(all, ref), size+ref.Bytes
		if ref.JSON() && err == nil {
			var inner []event.Reference
			var more int
			content, failed := load(ref.Blob)
			if failed == nil {
				inner, more, failed = referenced(content, load)
			}
			all, size, err = append(all, inner...), size+more, failed
		}
		return ref.Value()
	})
	return all, size, err
}

// storeValues returns lines with the values that references stand for, except those that known has, to which it adds them.
func storeValues(store *payload.Store, name string, refs []event.Reference, load event.Load, known map[string]bool) (lines []byte, err error) {
	for _, ref := range refs {
		if known[ref.Blob] {
			continue
		}
		content, err := load(ref.Blob)
		if err != nil {
			return nil, err
		}
		v := storedValue{Blob: ref.Blob}
		if v.Value, err = store.Keep(name, content); err != nil {
			return nil, err
		}
		line, err := rawjson.Marshal(v)
		if err != nil {
			return nil, err
		}
		lines, known[ref.Blob] = append(append(lines, line...), '\n'), true
	}
	return lines, nil
}

// record reads the events on a tape. It takes out the values that are stored for themselves, which can be loaded when an event that refers to
// them was read.
type record struct {
	from   io.ReadCloser
	lines  *bufio.Reader
	rest   []byte
	store  *payload.Store
	values map[string]payload.Packed
}

func openRecord(store *payload.Store, p payload.Packed) (*record, error) {
	r, err := store.Open(p)
	if err != nil {
		return nil, err
	}
	return &record{from: r, lines: bufio.NewReaderSize(r, 64<<10), store: store, values: map[string]payload.Packed{}}, nil
}

func (r *record) Close() error { return r.from.Close() }

// Read reads the lines of events.
func (r *record) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if err != nil {
			return 0, err
		}
		r.rest = line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line returns the next line of an event, or its beginning at the end of the tape.
func (r *record) line() ([]byte, error) {
	for {
		line, err := r.lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) > 0 {
			err = nil
		}
		if err != nil || !bytes.HasPrefix(line, storedBegin) {
			return line, err
		}
		var v storedValue
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fault.New(fault.Protocol, "The cluster has a long value of the run that cannot be read: %v", err)
		}
		r.values[v.Blob] = v.Value
	}
}

// load returns a value that is stored for itself.
func (r *record) load(digest string) ([]byte, error) {
	p, ok := r.values[digest]
	if !ok {
		return nil, fault.New(fault.NotFound, "The cluster does not have the long value %s of the run", digest)
	}
	return r.store.Unpack(p, maxValue)
}

// each calls do with the line of each event in which long values are as they are stored, and what loads those that the line refers to.
func (r *record) each(do func(line []byte, load event.Load) error) error {
	for {
		line, err := r.line()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && gjson.GetBytes(line, "event").Exists() {
			err = do(line, r.load)
		}
		if err != nil {
			return err
		}
	}
}
