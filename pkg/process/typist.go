package process

import (
	"bytes"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// The times for which a terminal has to be quiet before the typist types.
const (
	// promptDelay applies if the child has turned the echo off, reads single keys, or has written a line without a newline.
	promptDelay = 20 * time.Millisecond
	// blindDelay applies if the child has written nothing. It may be about to ask for a password and discard what was typed
	// before; the terminal reports that, and the typist types it again.
	blindDelay = 300 * time.Millisecond
	// nextDelay applies if the child has read the piece before. After manyLines pieces there is no delay any more.
	nextDelay = 50 * time.Millisecond
	manyLines = 20
	// maxDelay is the longest wait for a terminal that is never quiet, and the most CPU time of a child that works before it reads.
	maxDelay = 2 * time.Second
	// minInterval is the least time between two steps.
	minInterval = time.Millisecond
)

// maxPiece is the most bytes that are typed at a time. A terminal's line holds at least 1024 bytes, on Linux 4096.
const maxPiece = 1000

// typist types a child's input at its terminal as a person would who watches the screen: line by line, the next one when the
// child has read the one before and seems to wait.
type typist struct {
	*terminal
	pid    int           // the child
	pipe   int           // the input is read from here, as it is needed
	source int           // pipe until its end is reached, then noFD
	text   []byte        // input that has been read and not typed yet
	typed  []byte        // the last piece, until the child has read it
	blind  bool          // the last piece was typed without a sign that the child waits for it
	lines  int           // the number of pieces that the child has read
	since  time.Time     // the last piece was typed or read then
	quiet  time.Time     // the terminal last changed then
	asked  time.Time     // the last step was then
	from   time.Time     // the value of since when work was measured
	work   time.Duration // the CPU time of the child then
	pause  time.Duration // the wait before the next step
	last   termSettings  // the settings at the last step
}

func newTypist(t *terminal) *typist {
	now := time.Now()
	return &typist{terminal: t, pipe: noFD, source: noFD, since: now, quiet: now, pause: time.Millisecond}
}

func (t *typist) close() {
	if t.pipe != noFD {
		_ = unix.Close(t.pipe)
		t.pipe = noFD
	}
	t.terminal.close()
}

// step types the next piece if it is time, and returns how long to wait before the next step.
func (t *typist) step() (again time.Duration) {
	now := time.Now()
	if soon := now.Sub(t.asked); soon < minInterval { // steps come fast while there is much output
		return minInterval - soon
	}
	t.asked = now
	set := t.settings()
	if t.shown || set != t.last {
		t.quiet, t.pause = now, time.Millisecond
	}
	t.shown, t.last = false, set
	switch {
	case t.hasUnread(): // input that was discarded, if any was, was typed earlier
		t.flushed = false
	case t.packets && ready(t.ours, unix.POLLPRI): // an event of the terminal has not been read yet
		return 0
	default:
		t.settleTyped(now)
		t.fetch()
		if !t.due(now, set) {
			break
		}
		if t.blind && t.works() {
			t.quiet = now
		} else if t.typeNext(set) {
			t.since, t.quiet, t.pause = now, now, time.Millisecond
		}
	}
	again = t.pause
	t.pause = min(2*t.pause, 50*time.Millisecond)
	return again
}

// works reports whether the child works rather than waits, and has not had maxDelay for that since the last piece. Its CPU time counts,
// because on a busy machine it may take long to start.
func (t *typist) works() bool {
	work, works := busy(t.pid)
	if t.from != t.since {
		t.from, t.work = t.since, work
	}
	return works && work-t.work < maxDelay
}

// hasUnread reports whether the child has not read all that was typed.
func (t *typist) hasUnread() bool { return ready(t.child, unix.POLLIN) }

// settleTyped is called when nothing typed is left to read. The last piece has been read, or was discarded and is typed
// again.
func (t *typist) settleTyped(now time.Time) {
	if len(t.typed) > 0 {
		if t.flushed && t.blind {
			t.text = append(t.typed, t.text...)
		} else {
			t.lines++
		}
		t.typed, t.since, t.quiet = nil, now, now
	}
	t.flushed = false
}

// fetch reads more input while there is less than a line of it.
func (t *typist) fetch() {
	for t.source != noFD && bytes.IndexByte(t.text, '\n') < 0 && len(t.text) <= maxPiece && ready(t.source, unix.POLLIN|unix.POLLHUP) {
		more := make([]byte, 4<<10)
		n, err := unix.Read(t.source, more)
		switch {
		case n > 0:
			t.text = append(t.text, more[:n]...)
		case !errors.Is(err, unix.EINTR):
			t.source = noFD
		}
	}
}

// due reports whether it is time to type.
func (t *typist) due(now time.Time, set termSettings) bool {
	wait := blindDelay
	prompted := t.open || !set.echo || !set.canonical
	t.blind = !prompted
	switch {
	case prompted:
		wait = promptDelay
	case t.lines > manyLines && len(t.text) > 0:
		wait, t.blind = 0, false
	case t.lines > 0:
		wait = nextDelay
	}
	return now.Sub(t.quiet) >= wait || now.Sub(t.since) >= maxDelay
}

// typeNext types the next piece of input, or the end of input, and reports whether it did.
func (t *typist) typeNext(set termSettings) bool {
	piece, keys := t.nextKeys(set)
	if len(keys) == 0 {
		return false
	}
	n, err := unix.Write(t.ours, keys)
	if err != nil || n <= 0 {
		return false
	}
	t.typed = append([]byte(nil), t.text[:min(piece, n)]...)
	t.text = t.text[len(t.typed):]
	t.open = false
	return true
}

// nextKeys returns how many bytes of the input are typed next, and the keys to type.
func (t *typist) nextKeys(set termSettings) (piece int, keys []byte) {
	end := bytes.IndexByte(t.text, '\n') + 1
	whole := end > 0 || t.source == noFD
	if end == 0 {
		end = len(t.text)
	}
	piece = min(end, maxPiece)
	keys = append(keys, t.text[:piece]...)
	switch {
	case !whole && len(t.text) <= maxPiece: // the rest of the line has not been read yet
		return 0, nil
	case !set.canonical: // the Enter key sends a carriage return
		return piece, bytes.ReplaceAll(keys, []byte{'\n'}, []byte{'\r'})
	case piece == 0, piece < end: // in the middle of a line, the end of input hands over what was typed
		if set.eof != 0 {
			keys = append(keys, set.eof)
		}
	case keys[piece-1] != '\n':
		keys = append(keys, '\n')
	}
	return piece, keys
}
