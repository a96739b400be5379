package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
)

// lines reads lines of at most maxMessage bytes.
type lines struct{ r *bufio.Reader }

func (*lines) expected() string { return "send one JSON object a line" }

func (*lines) wrap(message []byte) []byte { return append(message, '\n') }

// next gives a line, which is JSON or empty. One over the limit is skipped whole, with errLineTooLong in its place.
func (l *lines) next() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong {
			return nil, errLineTooLong // an error of the reader shows at the next call again
		}
		if line = trim(line); len(line) > 0 && !json.Valid(line) {
			return nil, notJSON(line, "This is no JSON and was skipped; "+l.expected()) // its error shows again too
		}
		return line, err
	}
}

// trim takes a byte order mark and white space off a message.
func trim(message []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(message, []byte("\uFEFF")))
}
