package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"unicode/utf8"
)

// Redacting removes secrets from what is written to it.
type Redacting interface {
	io.WriteCloser
	// Redacted reports whether it has removed any. It is called after Close.
	Redacted() bool
}

// Capture collects the output of a program as a value of the stream: text, or bytes that are not UTF-8. Output longer than
// InlineLimit is also written to a blob as it comes, with secrets removed. If the output contains a secret, the value is the
// output itself, for the templates of the run that read it, and the blob is discarded. The zero value holds everything in
// memory. Writes never fail: Value returns their error.
type Capture struct {
	// New returns a new blob, Redact a writer to it that removes secrets.
	New    func() (Blob, error)
	Redact func(w io.Writer) Redacting

	chunks [][]byte
	size   int
	// invalid is set if the output is not UTF-8. split is the beginning of a character at the end of the last write.
	invalid bool
	split   []byte
	blob    Blob
	clean   Redacting
	written int // the number of bytes written to the blob
	err     error
}

// chunkSize is the size of a piece of memory. One growing buffer would be copied again and again.
const chunkSize = 1 << 20

// Write appends to the output.
func (c *Capture) Write(p []byte) (int, error) {
	c.validate(p)
	c.hold(p)
	if c.New != nil && c.err == nil && c.size > InlineLimit {
		c.writeBlob(false)
	}
	return len(p), nil
}

func (c *Capture) hold(p []byte) {
	c.size += len(p)
	for len(p) > 0 {
		last := len(c.chunks) - 1
		if last < 0 || len(c.chunks[last]) == cap(c.chunks[last]) {
			room := chunkSize
			if last < 0 { // most outputs are short
				room = max(len(p), 512)
			}
			c.chunks = append(c.chunks, make([]byte, 0, room))
			last++
		}
		chunk := c.chunks[last]
		k := min(len(p), cap(chunk)-len(chunk))
		c.chunks[last] = append(chunk, p[:k]...)
		p = p[k:]
	}
}

// validate checks that the output is UTF-8. A character may be split between two writes.
func (c *Capture) validate(p []byte) {
	if len(c.split) > 0 && !c.invalid {
		k := min(len(p), utf8.UTFMax-len(c.split))
		c.split = append(c.split, p[:k]...)
		if !utf8.FullRune(c.split) {
			return
		}
		whole := WholeText(c.split)
		c.invalid = !utf8.Valid(c.split[:whole]) || whole == 0
		p = p[max(0, k-(len(c.split)-whole)):]
		c.split = c.split[:0]
	}
	if c.invalid {
		return
	}
	whole := WholeText(p)
	c.invalid = !utf8.Valid(p[:whole])
	c.split = append(c.split, p[whole:]...)
}

// WholeText returns the length of p without an incomplete character at its end. Bytes that cannot become a character count
// as complete.
func WholeText(p []byte) int {
	for k := 1; k < utf8.UTFMax && k <= len(p); k++ {
		if b := p[len(p)-k]; utf8.RuneStart(b) {
			if !utf8.FullRune(p[len(p)-k:]) {
				return len(p) - k
			}
			break
		}
	}
	return len(p)
}

// writeBlob writes the bytes that the blob does not have yet, except newlines at the end, which may not belong to the value,
// unless all is set.
func (c *Capture) writeBlob(all bool) {
	if c.blob == nil {
		if c.blob, c.err = c.New(); c.err != nil {
			return
		}
		c.clean = c.Redact(c.blob)
	}
	end := c.size
	if !all {
		end = c.trimmed()
	}
	at := 0
	for _, chunk := range c.chunks {
		from, to := max(c.written-at, 0), min(end-at, len(chunk))
		at += len(chunk)
		if from >= to {
			continue
		}
		if _, c.err = c.clean.Write(chunk[from:to]); c.err != nil {
			return
		}
	}
	c.written = max(c.written, end)
}

// trimmed returns the length of the output without newlines at its end.
func (c *Capture) trimmed() int {
	end := c.size
	for _, chunk := range slices.Backward(c.chunks) {
		left := len(bytes.TrimRight(chunk, "\r\n"))
		end -= len(chunk) - left
		if left > 0 {
			break
		}
	}
	return end
}

// Binary reports whether the output is not UTF-8 text.
func (c *Capture) Binary() bool { return c.invalid || len(c.split) > 0 }

// Value returns the output; strip removes newlines at the end of a text. It is called once.
func (c *Capture) Value(strip bool) (json.RawMessage, error) {
	strip = strip && !c.Binary() // in binary output a newline is data
	if c.blob == nil {
		if c.err != nil {
			return nil, c.err
		}
		return String(c.whole(strip)), nil
	}
	if c.err == nil {
		c.writeBlob(!strip)
	}
	if err := errors.Join(c.err, c.clean.Close()); err != nil {
		c.blob.Discard()
		return nil, err
	}
	if c.clean.Redacted() || c.written <= InlineLimit {
		c.blob.Discard()
		return String(c.whole(strip)), nil
	}
	mime := mimeText
	if c.Binary() {
		mime = mimeBytes
	}
	ref, err := c.blob.Keep()
	if err != nil {
		return nil, err
	}
	value := referenceTo(ref, c.head(headBytes), c.written, mime)
	c.chunks = nil
	return value, nil
}

// Discard drops the output if its value is not needed.
func (c *Capture) Discard() {
	if c.blob != nil {
		_ = c.clean.Close()
		c.blob.Discard()
	}
	*c = Capture{}
}

// whole returns the output in one piece.
func (c *Capture) whole(strip bool) []byte {
	end := c.size
	if strip {
		end = c.trimmed()
	}
	return c.head(end)
}

func (c *Capture) head(n int) []byte {
	if len(c.chunks) > 0 && n <= len(c.chunks[0]) {
		return c.chunks[0][:n]
	}
	out := make([]byte, 0, min(n, c.size))
	for _, chunk := range c.chunks {
		out = append(out, chunk[:min(len(chunk), n-len(out))]...)
	}
	return out
}

// Tail returns the last n bytes of the output, or all of it if it is shorter.
func (c *Capture) Tail(n int) []byte {
	var out []byte
	for i := len(c.chunks) - 1; i >= 0 && len(out) < n; i-- {
		chunk := c.chunks[i]
		out = append(bytes.Clone(chunk[max(0, len(chunk)-(n-len(out))):]), out...)
	}
	return out
}
