package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"unicode/utf8"
)

// Redacting is a stream that takes secrets out of what is written to it.
type Redacting interface {
	io.WriteCloser
	// Redacted says whether there were any, once it is closed.
	Redacted() bool
}

// Capture collects what a program prints, as a value of the stream: text, or bytes that are not UTF-8. What is long goes
// into a blob as it comes and is held in memory once, for the case that a secret is in it: then the value is what was
// printed, for the templates of the run that read it, and nothing is kept here. The zero value holds everything in memory.
// A write never fails: what happened to it is told by Value.
type Capture struct {
	// New makes a blob, Redact what takes the secrets out on the way there.
	New    func() (Blob, error)
	Redact func(w io.Writer) Redacting
	// Limit is the most bytes that are taken; 0 is no limit.
	Limit int

	chunks [][]byte
	size   int
	over   bool
	// invalid says that some of it is not UTF-8, split is the beginning of a character.
	invalid bool
	split   []byte
	blob    Blob
	clean   Redacting
	passed  int // bytes given to the blob
	err     error
}

// chunkSize is how much memory is taken at a time: a buffer that grows would be copied.
const chunkSize = 1 << 20

// Write takes more of the output.
func (c *Capture) Write(p []byte) (int, error) {
	n := len(p)
	if c.Limit > 0 && len(p) > c.Limit-c.size {
		c.over = true
		p = p[:c.Limit-c.size]
	}
	c.validate(p)
	c.hold(p)
	if c.New != nil && c.err == nil && c.size > InlineLimit {
		c.pass(false)
	}
	return n, nil
}

// Truncated says whether more was written than the limit allows.
func (c *Capture) Truncated() bool { return c.over }

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

// validate follows the text, in which a character may be split between two writes.
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

// WholeText is how many bytes at the start of p end with a whole character, or with something that will never be one.
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

// pass gives the blob what is held and it has not, but for newlines at the end, which may not belong to the value.
func (c *Capture) pass(all bool) {
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
		from, to := max(c.passed-at, 0), min(end-at, len(chunk))
		at += len(chunk)
		if from >= to {
			continue
		}
		if _, c.err = c.clean.Write(chunk[from:to]); c.err != nil {
			return
		}
	}
	c.passed = max(c.passed, end)
}

// trimmed is how many bytes there are without the newlines at the end.
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

// Binary says whether it is no UTF-8 text.
func (c *Capture) Binary() bool { return c.invalid || len(c.split) > 0 }

// Value is what was written, of a text without the newlines at its end when strip says so. It is called once.
func (c *Capture) Value(strip bool) (json.RawMessage, error) {
	strip = strip && !c.Binary() // a newline at the end of bytes is one of them
	if c.blob == nil {
		if c.err != nil {
			return nil, c.err
		}
		return String(c.whole(strip)), nil
	}
	if c.err == nil {
		c.pass(!strip)
	}
	if err := errors.Join(c.err, c.clean.Close()); err != nil {
		c.blob.Discard()
		return nil, err
	}
	if c.clean.Redacted() || c.passed <= InlineLimit {
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
	value := refer(ref, c.beginning(headBytes), c.passed, mime)
	c.chunks = nil
	return value, nil
}

// Discard lets go of what was written, when nobody wants its value.
func (c *Capture) Discard() {
	if c.blob != nil {
		_ = c.clean.Close()
		c.blob.Discard()
	}
	*c = Capture{}
}

// whole is all that was written in one piece.
func (c *Capture) whole(strip bool) []byte {
	end := c.size
	if strip {
		end = c.trimmed()
	}
	return c.beginning(end)
}

func (c *Capture) beginning(n int) []byte {
	if len(c.chunks) > 0 && n <= len(c.chunks[0]) {
		return c.chunks[0][:n]
	}
	out := make([]byte, 0, min(n, c.size))
	for _, chunk := range c.chunks {
		out = append(out, chunk[:min(len(chunk), n-len(out))]...)
	}
	return out
}

// Tail is the last bytes that were written, n at most.
func (c *Capture) Tail(n int) []byte {
	var out []byte
	for i := len(c.chunks) - 1; i >= 0 && len(out) < n; i-- {
		chunk := c.chunks[i]
		out = append(bytes.Clone(chunk[max(0, len(chunk)-(n-len(out))):]), out...)
	}
	return out
}
