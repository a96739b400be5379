package process

import (
	"bytes"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// How long a terminal has to be quiet before something is typed.
const (
	// atPrompt is for a program that has turned the echo off, reads key by key, or has begun a line and not ended it.
	atPrompt = 20 * time.Millisecond
	// blindly is for one that has not said anything: it may be about to ask for a password, and throw away what was typed
	// before it did. That it has is told, and then it is typed again.
	blindly = 300 * time.Millisecond
	// following is for one that has read what was typed before. After many it is followed at once.
	following = 50 * time.Millisecond
	many      = 20
	// unquiet is how long one that is never quiet is waited for.
	unquiet = 2 * time.Second
	// often is how much time is at least between two looks at the terminal.
	often = time.Millisecond
)

// longest is how many bytes of a line are typed at a time: a terminal holds 1024 at least, Linux's 4096.
const longest = 1000

// typist types the input of a child at its terminal as somebody would who sees what it shows: line by line, the next when
// the one before has been read and the child seems to wait.
type typist struct {
	*terminal
	pid    int    // the process at it
	pipe   int    // what is to be typed comes from here, as it is wanted
	source int    // the same until its end, then none
	text   []byte // what has come and is not typed yet
	typed  []byte // what was typed last, as long as it is not known to have been read
	blind  bool   // it was typed while nothing showed that the child waits for it
	lines  int    // how often something was typed and read
	since  time.Time
	quiet  time.Time // since when nothing has changed
	asked  time.Time
	pause  time.Duration
	last   setting
}

func newTypist(t *terminal) *typist {
	now := time.Now()
	return &typist{terminal: t, pipe: none, source: none, since: now, quiet: now, pause: time.Millisecond}
}

func (t *typist) close() {
	if t.pipe != none {
		_ = unix.Close(t.pipe)
		t.pipe = none
	}
	t.terminal.close()
}

// attend does what is to be done now and says after how long to ask again.
func (t *typist) attend() (again time.Duration) {
	now := time.Now()
	if soon := now.Sub(t.asked); soon < often { // there is much output
		return often - soon
	}
	t.asked = now
	set := t.setting()
	if t.shown || set != t.last {
		t.quiet, t.pause = now, time.Millisecond
	}
	t.shown, t.last = false, set
	switch {
	case t.unread(): // so that what was thrown away, if anything was, came before it
		t.flushed = false
	case t.packets && ready(t.ours, unix.POLLPRI): // something happened that has not been read yet
		return 0
	default:
		t.settle(now)
		t.fetch()
		if !t.due(now, set) {
			break
		}
		if t.blind && now.Sub(t.since) < unquiet && busy(t.pid) { // it does something else than to wait
			t.quiet = now
		} else if t.enter(set) {
			t.since, t.quiet, t.pause = now, now, time.Millisecond
		}
	}
	again = t.pause
	t.pause = min(2*t.pause, 50*time.Millisecond)
	return again
}

// unread says whether there is something typed that the child could read and has not.
func (t *typist) unread() bool { return ready(t.child, unix.POLLIN) }

// settle is for the moment at which nothing that was typed is left to read: it has been read, or thrown away.
func (t *typist) settle(now time.Time) {
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

// fetch takes more of what is to be typed, when less is there than a line.
func (t *typist) fetch() {
	for t.source != none && bytes.IndexByte(t.text, '\n') < 0 && len(t.text) <= longest && ready(t.source, unix.POLLIN|unix.POLLHUP) {
		more := make([]byte, 4<<10)
		n, err := unix.Read(t.source, more)
		switch {
		case n > 0:
			t.text = append(t.text, more[:n]...)
		case !errors.Is(err, unix.EINTR):
			t.source = none
		}
	}
}

// due says whether it is time to type.
func (t *typist) due(now time.Time, set setting) bool {
	wait := blindly
	prompted := t.open || !set.echo || !set.lines
	t.blind = !prompted
	switch {
	case prompted:
		wait = atPrompt
	case t.lines > many && len(t.text) > 0:
		wait, t.blind = 0, false
	case t.lines > 0:
		wait = following
	}
	return now.Sub(t.quiet) >= wait || now.Sub(t.since) >= unquiet
}

// enter types the next piece of what is there, or the end of input, and says whether it did.
func (t *typist) enter(set setting) bool {
	piece, keys := t.next(set)
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

// next is how many bytes are typed next, and by which keys.
func (t *typist) next(set setting) (piece int, keys []byte) {
	end := bytes.IndexByte(t.text, '\n') + 1
	whole := end > 0 || t.source == none
	if end == 0 {
		end = len(t.text)
	}
	piece = min(end, longest)
	keys = append(keys, t.text[:piece]...)
	switch {
	case !whole && len(t.text) <= longest: // the rest of the line is still to come
		return 0, nil
	case !set.lines: // as the key for a new line gives it
		return piece, bytes.ReplaceAll(keys, []byte{'\n'}, []byte{'\r'})
	case piece == 0, piece < end: // an end behind a part of a line hands that over
		if set.end != 0 {
			keys = append(keys, set.end)
		}
	case keys[piece-1] != '\n':
		keys = append(keys, '\n')
	}
	return piece, keys
}
