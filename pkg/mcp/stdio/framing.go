package stdio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Framing is how messages are separated in a stream. The empty string means FramingNewline.
type Framing string

const (
	// FramingNewline is one message per line, as in every revision of MCP.
	FramingNewline Framing = "newline"
	// FramingLSP is a header block with a Content-Length before each message, as in the base protocol of the Language Server
	// Protocol.
	FramingLSP Framing = "lsp"
	// FramingAuto is decided once for the whole connection, by the first line that can begin a message: a Content- header in
	// any case means FramingLSP, a JSON object or a batch means FramingNewline. Lines before it, such as a shell's warnings,
	// are skipped, and refused together once the framing is known. Input without such a line is FramingNewline. White space
	// and byte order marks do not count.
	FramingAuto Framing = "auto"
)

// maxMessage is the maximum number of bytes in a message.
const maxMessage = 64 << 20

// framing reads and writes messages in one Framing.
type framing interface {
	// next returns a message, which is JSON, without the white space around it. Its bytes are valid until the next call. The
	// error is a *message.Refusal for input that is not a message; the next call goes on after it. With io.EOF there can be a last
	// message.
	next() ([]byte, error)
	// wrap returns a message in the framing. It may append to the message's array.
	wrap(message []byte) []byte
	// expected returns an instruction to the client: how to send a message.
	expected() string
}

const tooLong = "The message is longer than 64 MiB and was skipped; send less at a time"

// check returns an internal fault for an unknown framing.
func (f Framing) check() error {
	switch f {
	case "", FramingNewline, FramingLSP, FramingAuto:
		return nil
	}
	return fault.New(fault.Internal, "unknown framing %q: use newline, lsp or auto", string(f))
}

// of returns the framing of a stream, and the number of lines that it skipped before the first message. For FramingAuto
// it waits for a line that can begin a message.
func (f Framing) of(in io.Reader) (framing, int) {
	r := bufio.NewReaderSize(in, 64<<10)
	lsp, noise := f == FramingLSP, 0
	if f == FramingAuto {
		lsp, noise = detect(r)
	}
	if lsp {
		return newFrames(r), noise
	}
	return &lines{r}, noise
}

// detect skips the lines before the first message, and reports whether that has a header block.
func detect(r *bufio.Reader) (lsp bool, noise int) {
	for {
		skipBlanks(r)
		switch {
		case opensHeader(r):
			return true, noise
		case opensJSON(r):
			return false, noise
		}
		_, err := r.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		noise++
		if err != nil {
			return false, noise
		}
	}
}

func noiseBefore(lines int) string {
	return fmt.Sprintf("Skipped the lines before the first message (%d); ", lines)
}

// opensJSON reports whether an object or an array of objects begins here, or the stream ends. A log's [WARN] does not
// begin an array.
func opensJSON(r *bufio.Reader) bool {
	head, err := r.Peek(1)
	if err != nil || head[0] != '[' {
		return err != nil || head[0] == '{'
	}
	head, err = r.Peek(2)
	return err != nil || strings.IndexByte("{[] \t\r\n", head[1]) >= 0
}

// opensHeader reports whether a Content- header begins here. It reads no more bytes than it needs, because a client that
// waits for an answer sends no more.
func opensHeader(r *bufio.Reader) bool {
	const opening = "content-"
	for n := range len(opening) {
		head, err := r.Peek(n + 1)
		if err != nil {
			return n > 0 && errors.Is(err, io.EOF)
		}
		if !strings.EqualFold(string(head), opening[:n+1]) {
			return false
		}
	}
	return true
}

// skipBlanks skips white space and byte order marks.
func skipBlanks(r *bufio.Reader) {
	const mark = "\uFEFF"
	for n := 0; ; {
		head, err := r.Peek(n + 1)
		if err != nil {
			return
		}
		switch c := head[n]; {
		case c == mark[n]:
			if n++; n == len(mark) {
				_, _ = r.Discard(n)
				n = 0
			}
		case n == 0 && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			_, _ = r.Discard(1)
		default:
			return
		}
	}
}
