package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// Redacting removes secrets from what is written to it.
type Redacting interface {
	io.WriteCloser
	// Redacted reports whether it has removed any. It is called after Close.
	Redacted() bool
}

// Private is content of a run that only its process can read: what has secrets, for the templates of the run.
type Private interface {
	io.Writer
	// Keep ends the content after its first size bytes. It returns the value that stands for it in this run; public is the
	// value that is written in its place.
	Keep(size int, public Reference) (json.RawMessage, error)
	// Discard drops the content. One of the two must be called.
	Discard()
}

// Capture collects the output of a program as a value of the stream: text, or bytes that are not UTF-8. Output longer than
// InlineLimit is written to a blob as it comes, with secrets removed. From the first secret on it is also written to a Private:
// that is the value then, and the blob is what is written in its place. The zero value holds everything in memory. Writes never
// fail: Value returns their error.
type Capture struct {
	// New returns a new blob, Redact a writer to it that removes secrets, NewPrivate a new Private.
	New        func() (Blob, error)
	Redact     func(w io.Writer) Redacting
	NewPrivate func() (Private, error)

	// size is the length of the output, and trimmed its length without the newlines at its end.
	size, trimmed int
	// invalid is set if the output is not UTF-8. split is the beginning of a character at the end of the last write.
	invalid bool
	split   []byte
	// text is the output while it is short. newlines are those at its end, which may not belong to the value.
	text, newlines []byte
	// tail is the end of the output.
	tail []byte

	blob  *countedBlob
	clean Redacting
	// passed is how many bytes were passed on to clean.
	passed int
	// held are the bytes that clean has not passed on to the blob, unless it has found a secret.
	held    []byte
	private Private
	err     error
}

// countedBlob counts the bytes that are written to a blob.
type countedBlob struct {
	Blob
	size int
}

func (b *countedBlob) Write(p []byte) (int, error) {
	n, err := b.Blob.Write(p)
	b.size += n
	return n, err
}

// maxTail is the most bytes of the end of an output that are kept for Tail.
const maxTail = 4 << 10

// Write appends to the output.
func (c *Capture) Write(p []byte) (int, error) {
	c.validate(p)
	c.size += len(p)
	if c.tail = append(c.tail, p[max(0, len(p)-maxTail):]...); len(c.tail) > 2*maxTail {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-maxTail:]...)
	}
	rest := p
	if body := len(bytes.TrimRight(p, "\r\n")); body > 0 {
		c.pass(c.newlines)
		c.pass(p[:body])
		c.trimmed, c.newlines, rest = c.size-(len(p)-body), c.newlines[:0], p[body:]
	}
	if c.newlines = append(c.newlines, rest...); len(c.newlines) > InlineLimit {
		c.pass(c.newlines)
		c.newlines = nil
	}
	return len(p), nil
}

// pass appends to the text, or to the blob once that has begun.
func (c *Capture) pass(p []byte) {
	if len(p) == 0 || c.err != nil {
		return
	}
	if c.blob == nil {
		c.text = append(c.text, p...)
		if c.New == nil || len(c.text) <= InlineLimit {
			return
		}
		blob, err := c.New()
		if err != nil {
			c.err = err
			return
		}
		c.blob = &countedBlob{Blob: blob}
		c.clean = c.Redact(c.blob)
		p, c.text = c.text, nil
	}
	c.passed += len(p)
	if c.private != nil {
		_, err := c.private.Write(p)
		_, c.err = c.clean.Write(p)
		c.err = errors.Join(c.err, err)
		return
	}
	before := c.blob.size
	c.held = append(c.held, p...)
	if _, c.err = c.clean.Write(p); c.err == nil {
		c.settle(before)
	}
}

// settle drops the held bytes that are in the blob now. before is the length that the blob had before the last write to clean:
// if that write has found a secret, what was passed on up to there is copied to a Private.
func (c *Capture) settle(before int) {
	if !c.clean.Redacted() {
		c.held = append(c.held[:0], c.held[c.blob.size-before:]...)
		return
	}
	if c.private, c.err = c.NewPrivate(); c.err != nil {
		return
	}
	_, err := io.Copy(c.private, io.NewSectionReader(c.blob, 0, int64(before)))
	_, failed := c.private.Write(c.held)
	c.held, c.err = nil, errors.Join(err, failed)
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

// Binary reports whether the output is not UTF-8 text.
func (c *Capture) Binary() bool { return c.invalid || len(c.split) > 0 }

// Value returns the output; strip removes newlines at the end of a text. It is called once.
func (c *Capture) Value(strip bool) (json.RawMessage, error) {
	end := c.trimmed
	if !strip || c.Binary() { // in binary output a newline is data
		c.pass(c.newlines)
		end = c.size
	}
	if c.err == nil && c.blob == nil {
		return String(c.text[:end]), nil
	}
	if c.err == nil {
		c.err = c.finish()
	}
	if c.err == nil && c.passed > end {
		c.err = c.cut()
	}
	if c.err != nil {
		c.Discard()
		return nil, c.err
	}
	return c.keep(end)
}

// finish ends the blob.
func (c *Capture) finish() error {
	before := c.blob.size
	if err := c.clean.Close(); err != nil {
		return err
	}
	if c.private == nil {
		c.settle(before)
	}
	return c.err
}

// cut replaces the blob by one without the newlines at its end. They were passed on because they were very many.
func (c *Capture) cut() error {
	end := c.blob.size
	for buf := make([]byte, InlineLimit); end > 0; {
		part := buf[:min(end, len(buf))]
		if _, err := c.blob.ReadAt(part, int64(end-len(part))); err != nil {
			return err
		}
		left := len(bytes.TrimRight(part, "\r\n"))
		if end -= len(part) - left; left > 0 {
			break
		}
	}
	shorter, err := c.New()
	if err != nil {
		return err
	}
	if _, err := io.Copy(shorter, io.NewSectionReader(c.blob, 0, int64(end))); err != nil {
		shorter.Discard()
		return err
	}
	c.blob.Discard()
	c.blob = &countedBlob{Blob: shorter, size: end}
	return nil
}

// keep returns the first end bytes of an output that has a blob.
func (c *Capture) keep(end int) (json.RawMessage, error) {
	head := make([]byte, min(c.blob.size, headBytes))
	if _, err := c.blob.ReadAt(head, 0); err != nil && len(head) > 0 {
		c.Discard()
		return nil, err
	}
	if end <= InlineLimit && c.private == nil { // newlines have made it long
		text, err := io.ReadAll(io.NewSectionReader(c.blob, 0, int64(end)))
		c.Discard()
		return String(text), err
	}
	mime := mimeText
	if c.Binary() {
		mime = mimeBytes
	}
	ref, err := c.blob.Keep()
	if err != nil {
		if c.private != nil {
			c.private.Discard()
		}
		return nil, err
	}
	public := referenceTo(ref, head, c.blob.size, mime)
	if c.private == nil {
		return public.Value(), nil
	}
	return c.private.Keep(end, public)
}

// Discard drops the output if its value is not needed.
func (c *Capture) Discard() {
	if c.blob != nil {
		c.blob.Discard()
	}
	if c.private != nil {
		c.private.Discard()
	}
	c.blob, c.private, c.text, c.held = nil, nil, nil, nil
}

// Tail returns the last n bytes of the output, at most 4 KiB, or all of it if it is shorter.
func (c *Capture) Tail(n int) []byte {
	return bytes.Clone(c.tail[max(0, len(c.tail)-min(n, maxTail)):])
}
