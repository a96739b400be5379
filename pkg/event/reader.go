package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Reader reads a stream. It ignores text without a newline at the end, and a last line that is not an event: a crash or
// power loss may leave both.
type Reader struct {
	r    *bufio.Reader
	line int
	// at is the offset of the next line.
	at int64
}

// MaxRead is the most bytes of a line that is read. It is larger than MaxLine because a stream without blobs contains long values in its
// lines.
const MaxRead = 64 << 20

// NewReader returns a Reader that reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next event and its line, or io.EOF after the last whole line. A line that is not an event or has another
// version is a protocol_error with the number of the line, a line of more than 64 MiB a validation_error.
func (r *Reader) Next() (*Event, []byte, error) {
	var e Event
	line, err := r.next(func(line []byte) bool {
		e = Event{}
		return json.Unmarshal(line, &e) == nil && e.Event != ""
	})
	if err != nil {
		return nil, line, err
	}
	if e.V != Version {
		return nil, line, r.version(e.V)
	}
	return &e, slices.Clone(line), nil
}

// next reads the next line that is not empty and passes it to parse. The next call overwrites the line.
func (r *Reader) next(parse func(line []byte) bool) ([]byte, error) {
	for {
		line, err := r.readLine()
		if err != nil {
			return nil, err
		}
		r.line++
		r.at += int64(len(line))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !parse(line) {
			if _, err := r.r.Peek(1); errors.Is(err, io.EOF) && r.line > 1 {
				return nil, io.EOF // a last line that a power loss has damaged
			}
			return line, fault.New(fault.Protocol, "Line %d of the event stream is not an event", r.line).
				Suggest("Give the events of a run, or its id").Then(fault.Step{Do: fault.DoEvents, Run: "RUN"})
		}
		return line, nil
	}
}

func (r *Reader) version(v int) error {
	return fault.New(fault.Protocol, "Line %d of the event stream has version %d, this program reads version %d", r.line, v, Version)
}

// readLine reads up to a newline. Text without one is dropped and counts as the end. The next call overwrites the line.
func (r *Reader) readLine() ([]byte, error) {
	var parts [][]byte // not one growing slice, which would need the memory twice
	size := 0
	for {
		part, err := r.r.ReadSlice('\n')
		if err == nil && parts == nil {
			return part, nil
		}
		if size += len(part); size > MaxRead {
			return nil, fault.New(fault.Validation, "Line %d of the event stream has more than %d MiB, the limit of a line", r.line+1, MaxRead>>20)
		}
		parts = append(parts, slices.Clone(part))
		switch {
		case err == nil:
			return slices.Concat(parts...), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			return nil, err
		}
	}
}
