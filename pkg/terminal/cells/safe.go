package cells

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// CarriageReturn is shown for a carriage return, which would let a text overwrite the beginning of its line.
const CarriageReturn = '␍'

// Safe returns a text of any number of lines that is safe to show. Newlines and tabs stay. A carriage return before a newline is
// left out, and any other becomes CarriageReturn. Everything else is as by Clean.
func Safe(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || unicode.IsGraphic(r):
			return r
		case r == '\r':
			return CarriageReturn
		}
		return replaceUnsafe(r)
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// Writer writes text to a terminal as Safe returns it. It may be used by several goroutines.
type Writer struct {
	w  io.Writer
	mu sync.Mutex
	// rest is the end of what was written: a part of a character, or a carriage return that a newline may follow.
	rest []byte
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes p in one call.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.rest, p...)
	end := len(text) - incomplete(text)
	w.rest = bytes.Clone(text[end:])
	if end == 0 {
		return len(p), nil
	}
	if _, err := io.WriteString(w.w, Safe(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// incomplete returns how many bytes at the end of a text are a carriage return or a part of a character.
func incomplete(text []byte) int {
	if bytes.HasSuffix(text, []byte("\r")) {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
