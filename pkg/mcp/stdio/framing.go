package stdio

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
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
	// FramingAuto is settled once, for the whole connection, by the first line that a message can begin with: FramingLSP
	// by one that opens a Content- header in whatever case, FramingNewline by one that opens a JSON object or a batch. Lines
	// before it, such as a shell's warnings, are skipped and refused together once the framing is known, and so are those
	// of an input without any such line, as FramingNewline. White space and byte order marks do not count.
	FramingAuto Framing = "auto"
)

// maxMessage is the most bytes one message may have.
const maxMessage = 64 << 20

// framing is one way to tell messages apart.
type framing interface {
	// next gives a message, which is JSON, without the space around it; its bytes are good until the next call. A *malformed
	// is what stands in the place of one; the next call goes on behind it. With io.EOF there may be a last message.
	next() ([]byte, error)
	// wrap gives a message as it goes out. It may write behind it.
	wrap(message []byte) []byte
	// expected says how a message is to be sent.
	expected() string
}

// malformed is input that is no message, and the refusal it is answered with.
type malformed struct {
	id      json.RawMessage // nil when it cannot be read
	code    int64
	message string
}

func (m *malformed) Error() string { return m.message }

const tooLong = "The message is longer than 64 MiB and was skipped; send less at a time"

var errLineTooLong = &malformed{code: jsonrpc.CodeInvalidRequest, message: tooLong}

// check says whether it is one of the framings.
func (f Framing) check() error {
	switch f {
	case "", FramingNewline, FramingLSP, FramingAuto:
		return nil
	}
	return fault.New(fault.Internal, "the framing %q is none of newline, lsp and auto", string(f))
}

// of is the framing of a stream, and how many lines before the first message had to be skipped to know it. For
// FramingAuto it waits for a line that a message can begin with.
func (f Framing) of(in io.Reader) (framing, int) {
	r := bufio.NewReaderSize(in, 64<<10)
	lsp, noise := f == FramingLSP, 0
	if f == FramingAuto {
		lsp, noise = settle(r)
	}
	if lsp {
		return newFrames(r), noise
	}
	return &lines{r}, noise
}

// settle says whether a stream has frames with a header, and goes past the lines before the first message.
func settle(r *bufio.Reader) (lsp bool, noise int) {
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
	return fmt.Sprintf("The input began with lines that are no message (%d), and they were skipped; ", lines)
}

// opensJSON says whether an object or an array of objects begins here, or the stream ends. A log's [WARN] is no array.
func opensJSON(r *bufio.Reader) bool {
	head, err := r.Peek(1)
	if err != nil || head[0] != '[' {
		return err != nil || head[0] == '{'
	}
	head, err = r.Peek(2)
	return err != nil || strings.IndexByte("{[] \t\r\n", head[1]) >= 0
}

// opensHeader says whether a Content- header begins here. It never looks at more bytes than it needs: a client that
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
