package telemetry

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
)

const (
	// maxWhole is the most bytes of a line that is parsed whole. Of a longer one, the fields at its beginning are read.
	maxWhole = 2 << 20
	// maxTogether is the most bytes of lines that are passed on in one write.
	maxTogether = 32 << 10
)

// lines reads lines, and passes on each byte.
type lines struct {
	in *bufio.Reader
	// tee receives the input. It may be nil.
	tee io.Writer
	// out has lines that are not passed on yet.
	out []byte
	// apply is called with each event, strange with each line that is no event, and cut with each one that is too long to be one.
	apply        func(*event.Event)
	strange, cut func()
}

// run reads until the input ends. The error is that of the input or of tee.
func (l *lines) run() error {
	for {
		line, whole, err := l.next()
		if len(bytes.TrimSpace(line)) > 0 && (err == nil || gjson.ValidBytes(line)) { // a last line may lack its end
			l.parse(line, whole)
		}
		if err != nil || len(l.out) >= maxTogether || l.in.Buffered() == 0 {
			if flushErr := l.flush(); flushErr != nil {
				return flushErr
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// next reads a line and adds it to out. Of a line longer than maxWhole, it returns the beginning. The next call overwrites the line.
func (l *lines) next() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := l.in.ReadSlice('\n')
		if l.tee != nil {
			l.out = append(l.out, part...)
		}
		switch {
		case err == nil && line == nil:
			return part, true, nil
		case len(line)+len(part) <= maxWhole:
			line = append(line, part...)
		default:
			line, whole = append(line, part[:maxWhole-len(line)]...), false
			if err := l.flush(); err != nil {
				return line, false, err
			}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

func (l *lines) flush() error {
	if l.tee == nil || len(l.out) == 0 {
		return nil
	}
	out := l.out
	l.out = l.out[:0]
	if cap(out) > maxWhole {
		l.out = nil
	}
	_, err := l.tee.Write(out)
	return err
}

func (l *lines) parse(line []byte, whole bool) {
	e := &event.Event{}
	if whole {
		if err := json.Unmarshal(line, e); err != nil {
			e = &event.Event{}
		}
	} else {
		l.cut()
		if e = beginning(line); e.Event == "" {
			return
		}
	}
	if e.Event == "" || e.V != event.Version {
		l.strange()
		return
	}
	l.apply(e)
}

// beginning returns an event with those fields that stand before the outputs in a line of which the end is missing.
func beginning(line []byte) *event.Event {
	at := bytes.Index(line, []byte(`,"outputs":`))
	if cut := bytes.Index(line, []byte(`,"workflow":`)); cut >= 0 && (at < 0 || cut < at) {
		at = cut
	}
	if at < 0 {
		return &event.Event{}
	}
	e := &event.Event{}
	if err := json.Unmarshal(append(bytes.Clone(line[:at]), '}'), e); err != nil {
		return &event.Event{}
	}
	if e.Time.IsZero() {
		e.Time = time.Unix(0, 0)
	}
	return e
}
