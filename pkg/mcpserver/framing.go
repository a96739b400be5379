package mcpserver

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Framing is how messages are told apart in a stream. The empty one is FramingNewline.
type Framing string

const (
	// FramingNewline has one message a line, as every revision of MCP has it.
	FramingNewline Framing = "newline"
	// FramingLSP has each message behind a header block with its Content-Length, as the base protocol of the Language
	// Server Protocol has it.
	FramingLSP Framing = "lsp"
	// FramingAuto is FramingLSP for a client whose first text opens a Content- header in whatever case, white space and a
	// byte order mark aside, and FramingNewline for any other. It is settled once, for the whole connection.
	FramingAuto Framing = "auto"
)

// maxMessage is the most bytes one message may have.
const maxMessage = 64 << 20

// framing is one way to tell messages apart.
type framing interface {
	// next gives a message without the space around it. A *malformed is what stands in the place of one; the next call
	// goes on behind it. With io.EOF there may be a last message.
	next() ([]byte, error)
	// wrap gives a message as it goes out. It may write behind it.
	wrap(message []byte) []byte
	// expected says how a message is to be sent.
	expected() string
}

// malformed is input that is no message, and the refusal it is answered with.
type malformed struct {
	code    int64
	message string
}

func (m *malformed) Error() string { return m.message }

const tooLong = "The message is longer than 64 MiB and was skipped; send less at a time"

var errLineTooLong = &malformed{jsonrpc.CodeInvalidRequest, tooLong}

// check says whether it is one of the framings.
func (f Framing) check() error {
	switch f {
	case "", FramingNewline, FramingLSP, FramingAuto:
		return nil
	}
	return fault.New(fault.Internal, "the framing %q is none of newline, lsp and auto", string(f))
}

// of is the framing of a stream. For FramingAuto it waits for the stream's first text.
func (f Framing) of(in io.Reader) framing {
	r := bufio.NewReaderSize(in, 64<<10)
	if f == FramingLSP || f == FramingAuto && opensHeader(r) {
		return newFrames(r)
	}
	return &lines{r}
}

// opensHeader looks at the first text of a stream, and never at more bytes than it needs: a client that waits for an
// answer sends no more.
func opensHeader(r *bufio.Reader) bool {
	skipBlanks(r)
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

// skipBlanks goes past white space and byte order marks.
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
