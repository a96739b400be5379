package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/pflow-suite/pflow/pkg/mcp/message"
)

const (
	contentLength = "content-length:"
	// maxHeader is the maximum number of bytes in one line of a header block.
	maxHeader = 8 << 10
	// noLimit lets the search for a header go on to the end of the input.
	noLimit = math.MaxInt
)

// Why input is refused.
const (
	notHeader   = "Skipped input where a Content-Length header was expected"
	noLength    = "Skipped a header block without Content-Length"
	notLength   = "Skipped a frame whose Content-Length %.40q is not a number of bytes"
	bodyNotJSON = "Skipped the %d bytes after Content-Length: they are not JSON"
	tornHeader  = "The input ended within the header of a frame"
	tornBody    = "The input ended after %d of the %d bytes that Content-Length announced"
)

// frames reads messages that each follow a header block with their Content-Length.
//
// Input that is not a frame is refused once. Reading goes on at the next line that begins with "Content-Length:", or that
// ends with that whole header: after a length that was too short, the next header stands in the middle of a line. A body
// that is not JSON is searched too, because a length that was too long swallows the next frame. No JSON text contains
// such a line: its strings have no line breaks.
type frames struct {
	in    window
	limit int // of a body
	lost  bool
	skip  int // how many bytes the search for a header covers while lost
}

func newFrames(in io.Reader) *frames {
	return &frames{in: window{src: in}, limit: maxMessage}
}

func (*frames) expected() string {
	return `send "Content-Length: N", a blank line, then one JSON object of N bytes of UTF-8`
}

func (*frames) wrap(message []byte) []byte {
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(message)), message...)
}

// next returns the body of a frame, which is JSON.
func (f *frames) next() ([]byte, error) {
	if f.lost {
		f.search()
	}
	length, err := f.header()
	if err != nil {
		return nil, err
	}
	body := f.in.peek(length)
	if len(body) < length {
		return nil, f.lose(noLimit, tornBody, len(body), length)
	}
	text := trim(body)
	if !json.Valid(text) {
		bad := f.lose(noLimit, bodyNotJSON, length)
		return nil, message.NotJSON(text, bad.Message)
	}
	f.in.take(length) // its bytes stay until the window is filled again
	return text, nil
}

// header reads a header block and returns the length of the body after it.
func (f *frames) header() (int, error) {
	value, begun := "", false
	for {
		line := f.in.line(maxHeader)
		whole := bytes.HasSuffix(line, []byte("\n"))
		text := string(trim(line))
		switch {
		case !whole && len(line) < maxHeader: // the end of the input
			f.in.take(len(line))
			if begun || text != "" {
				return 0, &message.Refusal{Code: jsonrpc.CodeParseError, Message: tornHeader}
			}
			return 0, f.in.err
		case whole && text == "" && begun:
			f.in.take(len(line))
			return f.length(value)
		case whole && text == "": // some clients write a line break after a body
			f.in.take(len(line))
			continue
		}
		name, rest, ok := strings.Cut(text, ":")
		if !whole || !ok || !isHeaderName(name) {
			return 0, f.lose(noLimit, notHeader)
		}
		if at := headerIn(line); at > 0 && strings.EqualFold(name, "Content-Length") {
			line = line[:at] // its value runs into the next frame
		}
		f.in.take(len(line))
		begun = true
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		value = strings.TrimSpace(rest) // the last one counts: a block that broke off can come before it
		if value != "" && !isNumber(value) {
			return 0, f.lose(noLimit, notLength, value)
		}
	}
}

// length parses the value of Content-Length.
func (f *frames) length(value string) (int, error) {
	if value == "" {
		return 0, f.lose(noLimit, noLength)
	}
	length, err := strconv.Atoi(value)
	if err != nil { // more than an int can hold
		length = noLimit
	}
	if length > f.limit {
		refused := f.lose(length, "")
		refused.Message = tooLong
		return 0, refused
	}
	return length, nil
}

// lose makes the next call search for a header. The search covers the next limit bytes; if they end with the beginning of
// a header, it goes on after them.
func (f *frames) lose(limit int, format string, args ...any) *message.Refusal {
	f.lost, f.skip = true, limit
	return &message.Refusal{Code: jsonrpc.CodeParseError, Message: fmt.Sprintf(format, args...) + "; " + f.expected()}
}

// search skips input up to the next header, the end of skip, or the end of the input.
func (f *frames) search() {
	f.lost = false
	for {
		most := min(maxHeader, f.skip)
		line := f.in.line(most)
		switch {
		case bytes.HasSuffix(line, []byte("\n")):
			if at := headerIn(line); at >= 0 {
				f.in.take(at)
				return
			}
			f.pass(len(line))
		case len(line) < most: // the end of the input
			f.in.take(len(line))
			return
		case len(line) == f.skip && beginsHeader(line):
			f.skip = noLimit // the body is shorter than announced
		case len(line) == f.skip:
			f.pass(len(line))
		default:
			f.pass(len(line) - 2*len(contentLength)) // the header may begin at the end of this
		}
		if f.skip == 0 {
			return
		}
	}
}

func (f *frames) pass(n int) {
	f.in.take(n)
	if f.skip != noLimit {
		f.skip -= n
	}
}

// headerIn returns the index at which a Content-Length header begins in a line, or -1.
func headerIn(line []byte) int {
	for end := bytes.LastIndexByte(line, ':'); end >= 0; end = bytes.LastIndexByte(line[:end], ':') {
		at := end + 1 - len(contentLength)
		if at < 0 || !strings.EqualFold(string(line[at:end+1]), contentLength) {
			continue
		}
		if isNumber(string(bytes.TrimSpace(line[end+1:]))) {
			return at
		}
		break // a line with more text after its last header counts only if it begins with a header
	}
	if len(line) >= len(contentLength) && beginsHeader(line) {
		return 0
	}
	return -1
}

// beginsHeader reports whether a line that begins with part can be a Content-Length header.
func beginsHeader(part []byte) bool {
	n := min(len(part), len(contentLength))
	return strings.EqualFold(string(part[:n]), contentLength[:n])
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func isHeaderName(s string) bool {
	other := func(c rune) bool {
		return !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	}
	return s != "" && strings.IndexFunc(s, other) < 0
}
