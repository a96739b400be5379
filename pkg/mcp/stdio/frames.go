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
)

const (
	contentLength = "content-length:"
	// maxHeader is the most bytes one line of a header block may have.
	maxHeader = 8 << 10
	// noLimit is how far the search for a header goes when nothing else ends it.
	noLimit = math.MaxInt
)

// frames reads messages that each come behind a header block with their Content-Length.
//
// What is no frame costs one refusal. Reading goes on at the next line that begins with "Content-Length:", or that ends
// with that header whole: a length that was too short leaves the next header in mid-line. A body that is no JSON is
// looked through as well, for one whose length was too long has swallowed what came next. No JSON text has such a line:
// its strings hold no line breaks.
type frames struct {
	in    window
	limit int // of a body
	lost  bool
	skip  int // how far the search for a header goes while lost
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

// next gives the body of a frame, which is JSON.
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
		return nil, f.lose(noLimit, "The input ended after %d of the %d bytes that Content-Length announced", len(body), length)
	}
	message := trim(body)
	if !json.Valid(message) {
		bad := f.lose(noLimit, "The %d bytes that Content-Length announced are no JSON and were skipped", length)
		return nil, notJSON(message, bad.message)
	}
	f.in.take(length) // its bytes stay until the window is filled again
	return message, nil
}

// header reads a header block and gives the length of the body behind it.
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
				return 0, &malformed{code: jsonrpc.CodeParseError, message: "The input ended within the header of a frame"}
			}
			return 0, f.in.err
		case whole && text == "" && begun:
			f.in.take(len(line))
			return f.length(value)
		case whole && text == "": // some clients put a line break behind a body
			f.in.take(len(line))
			continue
		}
		name, rest, ok := strings.Cut(text, ":")
		if !whole || !ok || !isHeaderName(name) {
			return 0, f.lose(noLimit, "What came in the place of a Content-Length header was skipped")
		}
		if at := headerIn(line); at > 0 && strings.EqualFold(name, "Content-Length") {
			line = line[:at] // its value runs into the next frame
		}
		f.in.take(len(line))
		begun = true
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		value = strings.TrimSpace(rest) // of several the last counts: a block that broke off may come before it
		if value != "" && !isNumber(value) {
			return 0, f.lose(noLimit, "A frame whose Content-Length %.40q is no number of bytes was skipped", value)
		}
	}
}

// length reads the value of Content-Length.
func (f *frames) length(value string) (int, error) {
	if value == "" {
		return 0, f.lose(noLimit, "A header block without a Content-Length was skipped")
	}
	length, err := strconv.Atoi(value)
	if err != nil { // more than an integer holds
		length = noLimit
	}
	if length > f.limit {
		refused := f.lose(length, "")
		refused.message = tooLong
		return 0, refused
	}
	return length, nil
}

// lose makes the next call search for a header, in the next limit bytes and behind them if it comes to nothing.
func (f *frames) lose(limit int, format string, args ...any) *malformed {
	f.lost, f.skip = true, limit
	return &malformed{code: jsonrpc.CodeParseError, message: fmt.Sprintf(format, args...) + "; " + f.expected()}
}

// search goes to the next header, to where skip ends, or to the end of the input.
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
			f.skip = noLimit // the body is not as long as it was said to be
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

// headerIn is where in a line a Content-Length header begins, or -1.
func headerIn(line []byte) int {
	for end := bytes.LastIndexByte(line, ':'); end >= 0; end = bytes.LastIndexByte(line[:end], ':') {
		at := end + 1 - len(contentLength)
		if at < 0 || !strings.EqualFold(string(line[at:end+1]), contentLength) {
			continue
		}
		if isNumber(string(bytes.TrimSpace(line[end+1:]))) {
			return at
		}
		break // a line that says more behind its last one is taken for a header from its beginning only
	}
	if len(line) >= len(contentLength) && beginsHeader(line) {
		return 0
	}
	return -1
}

// beginsHeader says whether the line of which this is a part can be a Content-Length header.
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
