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

// Reader reads a stream. What ends without a newline is a torn line and does not count, nor does a last line that is no
// event.
type Reader struct {
	r    *bufio.Reader
	line int
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Next is the next event with the line it stands in, or io.EOF at the end of the last whole line. A line that is no
// event is a protocol_error that says which line it is, and so is one of another contract's version.
func (r *Reader) Next() (*Event, []byte, error) {
	for {
		line, err := r.readLine()
		if err != nil {
			return nil, nil, err
		}
		r.line++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil || e.Event == "" {
			if _, err := r.r.Peek(1); errors.Is(err, io.EOF) && r.line > 1 {
				return nil, nil, io.EOF // what a loss of power left of the last line
			}
			return nil, line, fault.New(fault.Protocol, "Line %d of the event stream is no event", r.line).
				Suggest("Give the output of pflow-exec run with --format ndjson, or a run id")
		}
		if e.V != Version {
			return nil, line, fault.New(fault.Protocol, "Line %d of the event stream is of version %d, this program reads version %d", r.line, e.V, Version)
		}
		return &e, line, nil
	}
}

// readLine reads up to a newline. Text without one is dropped and is the end.
func (r *Reader) readLine() ([]byte, error) {
	var whole []byte
	for {
		part, err := r.r.ReadSlice('\n')
		if err == nil && whole == nil {
			return slices.Clone(part), nil
		}
		if len(whole)+len(part) > MaxLine {
			return nil, fault.New(fault.Protocol, "Line %d of the event stream is longer than %d bytes", r.line+1, MaxLine)
		}
		whole = append(whole, part...)
		switch {
		case err == nil:
			return whole, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			return nil, err
		}
	}
}
