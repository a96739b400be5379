package redact

import (
	"io"
	"unsafe"
)

// Writer gives a stream that redacts what is written to it, also where a secret is split across writes. It holds back
// no more than what a secret may still begin with, the longest of their forms at most; Close writes that out, and
// leaves w open. It is for one goroutine. A stream is one long text, so secrets of less than six bytes are not looked for.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{redactor: r, to: w} }

// Writer is a stream that redacts.
type Writer struct {
	redactor *Redactor
	to       io.Writer
	held     []byte
	found    bool
}

// Redacted says whether a secret was in what has been passed on; after Close, in all that was written.
func (w *Writer) Redacted() bool { return w.found }

// Write redacts and passes on all that can be told already.
func (w *Writer) Write(p []byte) (int, error) {
	if len(w.held) == 0 && w.redactor.Empty() {
		return w.to.Write(p)
	}
	w.held = append(w.held, p...)
	if err := w.pass(false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close passes on what was held back.
func (w *Writer) Close() error { return w.pass(true) }

func (w *Writer) pass(final bool) error {
	text := unsafe.String(unsafe.SliceData(w.held), len(w.held)) // not kept beyond this call
	spans, cut := w.redactor.known.Load().scan(text, final)
	if cut == 0 {
		return nil
	}
	clean := w.held[:cut]
	if len(spans) > 0 {
		w.found = true
		clean = []byte(replace(text[:cut], spans, plain))
	}
	_, err := w.to.Write(clean)
	w.held = append(w.held[:0], w.held[cut:]...)
	return err
}
