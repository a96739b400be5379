package runner

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// requestReader reads a request and passes it on without a long text in it, which goes to a file: the parameter node.LongParam of the
// type, if the type precedes the parameters. What follows the request is passed on as it is.
type requestReader struct {
	from io.Reader
	in   []byte
	// out is what has been read and is to be passed on. A text that may become long is held back.
	out, held []byte
	// passed is the memory of out.
	passed []byte

	// depth counts the open objects and lists.
	depth int
	// inString and escaped describe the place in a string; value is set if that is the value of a member, or if one must come next.
	inString, escaped, value bool
	// word has the beginning of the string, key that of the key before it. params is set inside of the parameters.
	word, key []byte
	params    bool
	// param is the name of the parameter that may be long.
	param string
	// taking is set within the parameter's text.
	taking bool
	text   *rawjson.UnquotingWriter
	buffer *bufio.Writer
	file   *os.File
}

const (
	// maxWord is more than the names and types have that matter.
	maxWord = 64
	// longText is the length from which the text is written to a file.
	longText = event.InlineLimit
)

func newRequestReader(from io.Reader) *requestReader {
	return &requestReader{from: from, in: make([]byte, 32<<10)}
}

// Read reads the next part of the request.
func (r *requestReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		r.out = r.passed[:0]
		n, err := r.from.Read(r.in)
		if failed := r.take(r.in[:n]); failed != nil {
			return 0, fault.From(failed)
		}
		if err != nil && len(r.out) == 0 {
			r.out, r.held = append(r.out, r.held...), nil // what is left is no request
			if len(r.out) == 0 {
				return 0, err
			}
		}
		r.passed = r.out
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// long returns the text that is in a file, or nil if it was short.
func (r *requestReader) long() *node.LongText {
	if r.file == nil {
		return nil
	}
	info, err := r.file.Stat()
	if err != nil {
		return nil
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(r.file, 0, info.Size())), nil }
	return &node.LongText{Open: open, Public: open}
}

// close drops the text.
func (r *requestReader) close() {
	if r.file != nil {
		_ = r.file.Close()
	}
}

// take reads bytes of the request.
func (r *requestReader) take(b []byte) error {
	for len(b) > 0 {
		n := 1
		switch {
		case !r.inString:
			r.structure(b[0])
		case r.escaped:
			r.escaped = false
		case b[0] == '"':
			if err := r.endString(); err != nil {
				return err
			}
		case b[0] == '\\':
			r.escaped = true
		default:
			if n = bytes.IndexAny(b, "\"\\"); n < 0 {
				n = len(b)
			}
			if room := maxWord - len(r.word); room > 0 {
				r.word = append(r.word, b[:min(n, room)]...)
			}
		}
		if err := r.pass(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// structure reads a byte outside of strings.
func (r *requestReader) structure(c byte) {
	switch c {
	case '"':
		r.inString, r.word = true, r.word[:0]
	case ':':
		r.value, r.key = true, append(r.key[:0], r.word...)
	case '{', '[':
		if r.depth++; r.depth == 2 {
			r.params = c == '{' && string(r.key) == "params"
		}
		r.value = false
	case '}', ']':
		if r.depth--; r.depth < 2 {
			r.params = false
		}
		r.value = false
	case ',':
		r.value = false
	}
}

// endString ends a string, before its closing quote is passed on.
func (r *requestReader) endString() error {
	r.inString = false
	if r.depth == 1 && r.value && string(r.key) == "type" {
		r.param = node.LongParam(string(r.word))
	}
	if !r.taking {
		return nil
	}
	r.taking = false
	if r.text == nil {
		r.out, r.held = append(r.out, r.held...), r.held[:0]
		return nil
	}
	err := errors.Join(r.text.Close(), r.buffer.Flush())
	r.text = nil
	return err
}

// pass passes bytes on, unless they belong to the text that may become long.
func (r *requestReader) pass(b []byte) error {
	if !r.taking {
		r.out = append(r.out, b...)
		r.taking = r.inString && len(r.word) == 0 && r.value && r.params && r.depth == 2 && r.param != "" && string(r.key) == r.param && b[0] == '"' && r.file == nil
		return nil
	}
	if r.text == nil {
		if r.held = append(r.held, b...); len(r.held) <= longText {
			return nil
		}
		var err error
		if r.file, err = scratchFile(); err != nil {
			return err
		}
		r.buffer = bufio.NewWriterSize(r.file, longText)
		r.text = &rawjson.UnquotingWriter{To: r.buffer}
		b, r.held = r.held, nil
	}
	_, err := r.text.Write(b)
	return err
}

// scratchFile returns a file that has no name, so that nothing is left of it.
func scratchFile() (*os.File, error) {
	f, err := os.CreateTemp("", "pflow-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
