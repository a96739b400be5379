package redact

import (
	"io"
	"unsafe"
)

// Writer returns a stream that redacts what is written to it and passes it to w, also if a secret is split across writes. It
// holds back text that may be the beginning of a secret; Close writes that, and leaves w open. Secrets of less than six bytes
// are not redacted, because a stream is one long text. A Writer must not be used by several goroutines at once.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{redactor: r, to: w} }

// Writer is a stream that redacts.
type Writer struct {
	redactor *Redactor
	to       io.Writer
	held     []byte
	found    bool
}

// Redacted reports whether the text passed on so far contained a secret.
func (w *Writer) Redacted() bool { return w.found }

// Write redacts p and passes on the part that further text cannot change.
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

// Close passes on the rest.
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
