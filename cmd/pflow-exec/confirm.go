package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// confirmer makes a run wait until the reader of standard output has confirmed an event, with a line in a pipe that has the number of this
// event or of a later one.
type confirmer struct {
	pipe  *os.File
	lines *bufio.Reader
	// to is what an event is written to.
	to func(line []byte) error
	// confirmed is the number of the last event that was.
	confirmed int64
	// gone ends the run when nothing will be confirmed any more.
	gone context.CancelCauseFunc
}

// errUnconfirmed is the cause of the end of a run whose events nobody confirms any more.
var errUnconfirmed = fault.New(fault.Execution, "The pipe of --confirm was closed, so that no event is confirmed any more")

// openConfirmer opens the pipe, for which it waits until a program has opened it for writing.
func openConfirmer(path string, show *presenter) (*confirmer, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode()&os.ModeNamedPipe == 0 {
		err = errors.New("it is no named pipe")
	}
	if err != nil {
		return nil, fault.New(fault.Usage, "--confirm: %s cannot be used: %v", path, fault.Reason(err)).Suggest("Make a named pipe: mkfifo FILE")
	}
	if !show.stream {
		return nil, fault.New(fault.Usage, "--confirm needs --format ndjson: it is the events on standard output that are confirmed")
	}
	pipe, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.Usage, "--confirm: %s cannot be opened: %v", path, fault.Reason(err))
	}
	return &confirmer{pipe: pipe, lines: bufio.NewReader(io.LimitReader(pipe, maxConfirmations)), to: show.each()}, nil
}

// maxConfirmations is the most bytes that are read from the pipe: more than the numbers of all events of a run.
const maxConfirmations = 1 << 30

// Write passes the line of an event on. If that says what has been done, it waits for the confirmation. A failure ends the run.
func (c *confirmer) Write(line []byte) (int, error) {
	err := c.to(line)
	head := gjson.GetManyBytes(line, "event", "seq")
	switch event.Kind(head[0].Str) {
	case event.NodeStarted, event.NodeReused: // nothing is lost without these
	default:
		if err == nil {
			err = c.await(head[1].Int())
		}
	}
	if err != nil {
		c.gone(err)
	}
	return len(line), nil
}

func (c *confirmer) await(seq int64) error {
	for c.confirmed < seq {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			return errUnconfirmed
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64); err == nil {
			c.confirmed = n
		}
	}
	return nil
}

func (c *confirmer) close() { _ = c.pipe.Close() }
