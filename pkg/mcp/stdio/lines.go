package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
)

// lines reads lines of at most maxMessage bytes.
type lines struct{ r *bufio.Reader }

func (*lines) expected() string { return "send one JSON object per line" }

func (*lines) wrap(message []byte) []byte { return append(message, '\n') }

// next returns a line, which is JSON or empty. It skips a line over the limit and returns errLineTooLong for it.
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
			return nil, errLineTooLong // the next call returns an error of the reader
		}
		if line = trim(line); len(line) > 0 && !json.Valid(line) {
			return nil, notJSON(line, "Skipped a line that is not JSON; "+l.expected()) // the reader's error comes again too
		}
		return line, err
	}
}

// trim removes a byte order mark and white space around a message.
func trim(message []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(message, []byte("\uFEFF")))
}
