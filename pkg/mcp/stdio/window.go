package stdio

import (
	"bytes"
	"io"
)

const (
	// chunk is how much is asked for at a time.
	chunk = 32 << 10
	// maxKept is the most room that is kept when nothing is in it.
	maxKept = 1 << 20
)

// window is the part of a stream that has been read and not yet taken: it can be looked at again. Looking reads no more
// than what is asked for needs.
type window struct {
	src  io.Reader
	data []byte
	from int // data before it is taken
	err  error
}

// rest is what has been read and not taken.
func (w *window) rest() []byte { return w.data[w.from:] }

// take moves behind the next n bytes.
func (w *window) take(n int) {
	if w.from += n; w.from == len(w.data) {
		if w.data, w.from = w.data[:0], 0; cap(w.data) > maxKept {
			w.data = nil
		}
	}
}

// fill reads on, and says whether there was more.
func (w *window) fill() bool {
	if w.err != nil {
		return false
	}
	if w.from > len(w.data)/2 { // less is moved than has been taken
		w.data, w.from = w.data[:copy(w.data, w.rest())], 0
	}
	if cap(w.data)-len(w.data) < chunk {
		w.data = append(w.data, make([]byte, chunk)...)[:len(w.data)]
	}
	n, err := w.src.Read(w.data[len(w.data) : len(w.data)+chunk])
	w.data, w.err = w.data[:len(w.data)+n], err
	return n > 0 || err == nil
}

// peek gives the next n bytes, or fewer at the end of the stream.
func (w *window) peek(n int) []byte {
	for len(w.rest()) < n && w.fill() {
	}
	return w.rest()[:min(n, len(w.rest()))]
}

// line gives the next line with its newline, or the first limit bytes of one that is longer, or what there is at the end
// of the stream.
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
