package watch

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// maxOpen is how many journals are kept open. Those of further live runs are opened for each read.
const maxOpen = 200

// follower reads the journal of one run.
type follower struct {
	run *journal.Reader
	// file is the journal, which stays readable after the run was removed. It is nil if it is not kept open.
	file *os.File
	// at is the offset of the next line.
	at int64
	// held is true if a process executed the run when it was last looked at.
	held bool
	// broken is set when the journal cannot be read any further.
	broken bool
}

// state is how far a follower came.
type state int

const (
	caughtUp state = iota // there are no more lines now
	unread                // there are more lines
	waiting               // the last line must wait
	ended                 // the last line was passed on
)

// advance passes on the next lines of the run, at most as many as fit in the watcher's buffer. The error is that of the stream.
func (f *follower) advance(w *watcher) (state, error) {
	chunk, whole := f.read(w)
	for !f.broken {
		end := bytes.IndexByte(chunk, '\n') + 1
		if end == 0 {
			break
		}
		line := chunk[:end]
		if !gjson.ValidBytes(line) || line[0] != '{' {
			f.fail(w, errors.New("it has a line that is not an event"))
			break
		}
		last := isLast(line)
		if last && w.mustWait(f.run.ID) {
			return waiting, nil
		}
		if err := w.Line(line); err != nil {
			return 0, err
		}
		f.at += int64(end)
		if last {
			return ended, nil
		}
		chunk = chunk[end:]
	}
	switch {
	case f.broken:
	case !whole && len(chunk) == len(w.buf):
		f.fail(w, errors.New("it has a line that is too long"))
	case !whole:
		return unread, nil
	}
	if f.held {
		return caughtUp, nil
	}
	if f.at == 0 { // it was removed before it was read
		return ended, nil
	}
	if w.mustWait(f.run.ID) {
		return waiting, nil
	}
	return ended, w.interrupted(f.run.ID)
}

// read returns what follows in the journal, as much as fits in the watcher's buffer. whole is true if that is all.
func (f *follower) read(w *watcher) (chunk []byte, whole bool) {
	if f.broken {
		return nil, true
	}
	if err := f.open(w); err != nil {
		if f.run.Exists() {
			f.fail(w, err)
		}
		return nil, true
	}
	n, err := f.file.ReadAt(w.buf, f.at)
	if err != nil && !errors.Is(err, io.EOF) {
		f.fail(w, err)
	}
	if w.opened > maxOpen {
		f.close(w)
	}
	return w.buf[:n], n < len(w.buf)
}

// open opens the journal unless it is open.
func (f *follower) open(w *watcher) (err error) {
	if f.file != nil {
		return nil
	}
	if f.file, err = f.run.Open(); err == nil {
		w.opened++
	}
	return err
}

func (f *follower) close(w *watcher) {
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
		w.opened--
	}
}

// fail stops reading the journal.
func (f *follower) fail(w *watcher, err error) {
	f.broken = true
	w.Warn("The journal of run %s cannot be read any further: %v", f.run.ID, fault.Reason(err))
}

// isLast reports whether a line is the last of its run.
func isLast(line []byte) bool {
	if !bytes.Contains(line, []byte(`"event":"`+event.RunFinished+`"`)) {
		return false
	}
	return gjson.GetBytes(line, "event").Str == string(event.RunFinished)
}
