package stdio

import (
	"bytes"
	"io"
)

const (
	// chunk is the number of bytes of one read.
	chunk = 32 << 10
	// maxKept is the largest capacity that an empty window keeps.
	maxKept = 1 << 20
)

// window is the part of a stream that has been read and not yet taken, so that it can be looked at again. It reads no more
// than it needs for what is asked.
type window struct {
	src  io.Reader
	data []byte
	from int // data before it is taken
	err  error
}

// rest returns the bytes that have been read and not taken.
func (w *window) rest() []byte { return w.data[w.from:] }

// take skips the next n bytes, which must have been read.
func (w *window) take(n int) {
	if w.from += n; w.from == len(w.data) {
		if w.data, w.from = w.data[:0], 0; cap(w.data) > maxKept {
			w.data = nil
		}
	}
}

// fill reads on, and reports whether there was more.
func (w *window) fill() bool {
	if w.err != nil {
		return false
	}
	if w.from > len(w.data)/2 { // fewer bytes are moved than have been taken
		w.data, w.from = w.data[:copy(w.data, w.rest())], 0
	}
	if cap(w.data)-len(w.data) < chunk {
		w.data = append(w.data, make([]byte, chunk)...)[:len(w.data)]
	}
	n, err := w.src.Read(w.data[len(w.data) : len(w.data)+chunk])
	w.data, w.err = w.data[:len(w.data)+n], err
	return n > 0 || err == nil
}

// peek returns the next n bytes, or fewer at the end of the stream.
func (w *window) peek(n int) []byte {
	for len(w.rest()) < n && w.fill() {
	}
	return w.rest()[:min(n, len(w.rest()))]
}

// line returns the next line with its newline. It returns the first limit bytes of a longer line, and the rest of the
// stream if that has no newline.
func (w *window) line(limit int) []byte {
	for seen := 0; ; {
		rest := w.rest()
		rest = rest[:min(limit, len(rest))]
		if i := bytes.IndexByte(rest[seen:], '\n'); i >= 0 {
			return rest[:seen+i+1]
		}
		if seen = len(rest); seen == limit || !w.fill() {
			return w.rest()[:seen]
		}
	}
}
