package redact

import (
	"io"
	"slices"
	"unsafe"
)

const (
	// lookBehind is the number of bytes passed on that are kept, because they may say that a credential follows.
	lookBehind = 2 << 10
	// maxOpen is the number of bytes of a credential without an end that are held back. The rest is dropped.
	maxOpen = 16 << 10
)

// Writer returns a stream that redacts what is written to it and passes it to w, also if a secret is split across writes. It
// holds back text that may be the beginning of a secret; Close writes that, and leaves w open. Secrets of less than six bytes
// are not redacted, because a stream is one long text. A Writer must not be used by several goroutines at once.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{redactor: r, to: w} }

// Writer is a stream that redacts.
type Writer struct {
	redactor *Redactor
	to       io.Writer
	// text has the last bytes passed on, of which there are passed, and what is held back.
	text   []byte
	passed int
	// inside is true while the rest of a long credential is dropped.
	inside bool
	found  bool
}

// Redacted reports whether the text passed on so far contained a secret.
func (w *Writer) Redacted() bool { return w.found }

// Write redacts p and passes on the part that further text cannot change.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	if w.inside {
		end := indexOrEnd(unsafe.String(unsafe.SliceData(p), len(p)), endsParameter)
		w.inside, p = end == len(p), p[end:]
	}
	w.text = append(w.text, p...)
	if err := w.pass(false); err != nil {
		return 0, err
	}
	return n, nil
}

// Close passes on the rest.
func (w *Writer) Close() error { return w.pass(true) }

func (w *Writer) pass(final bool) error {
	text := unsafe.String(unsafe.SliceData(w.text), len(w.text)) // not kept beyond this call
	held := text[w.passed:]
	if held == "" {
		return nil
	}
	spans, cut := w.redactor.known.Load().scan(held, final)
	c := findCredentials(text, false)
	switch {
	case final:
	case len(text)-c.open <= maxOpen:
		cut = min(cut, max(0, c.open-w.passed))
	case slices.ContainsFunc(c.spans, func(sp span) bool { return sp.end == len(text) }):
		w.inside, cut = true, len(held)
	}
	spans = until(united(spans, below(c.spans, w.passed)), &cut)
	if cut == 0 {
		return nil
	}
	clean := w.text[w.passed : w.passed+cut]
	if len(spans) > 0 {
		w.found = true
		clean = []byte(replace(held[:cut], spans, plain))
	}
	_, err := w.to.Write(clean)
	end := w.passed + cut
	w.passed = min(end, lookBehind)
	w.text = append(w.text[:0], w.text[end-w.passed:]...)
	return err
}

// below returns the spans with their places counted from a byte of the text. It leaves out what is before that byte.
func below(spans []span, from int) []span {
	out := spans[:0]
	for _, sp := range spans {
		if sp.end > from {
			sp.start, sp.end = max(0, sp.start-from), sp.end-from
			out = append(out, sp)
		}
	}
	return out
}

// until returns the spans before cut. It moves cut before a span that it would divide.
func until(spans []span, cut *int) []span {
	for i, sp := range spans {
		if sp.end > *cut {
			*cut = min(*cut, sp.start)
			return spans[:i]
		}
	}
	return spans
}
