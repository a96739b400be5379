package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the most bytes one line may have.
const maxLine = 64 << 20

var errLineTooLong = errors.New("line too long")

// lines reads lines of at most maxLine bytes.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) *lines { return &lines{bufio.NewReaderSize(r, 64<<10)} }

// next gives a line without the space around it. With io.EOF there may be a last line that had no newline. A line over
// the limit is skipped whole and errLineTooLong returned in its place.
func (l *lines) next() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
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
		return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\uFEFF"))), err
	}
}
