package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/pflow-suite/pflow/pkg/mcp/message"
)

// lines reads lines of at most maxMessage bytes.
type lines struct{ r *bufio.Reader }

func (*lines) expected() string { return "send one JSON object per line" }

func (*lines) wrap(message []byte) []byte { return append(message, '\n') }

// next returns a line, which is JSON or empty. It skips a line over the limit, and returns a *message.Refusal with its id if that is
// among the first bytes.
func (l *lines) next() ([]byte, error) {
	var line []byte
	var refused *message.Refusal
	for {
		part, err := l.r.ReadSlice('\n')
		if refused == nil && len(line)+len(part) > maxMessage {
			refused = &message.Refusal{ID: message.RequestID(line[:min(len(line), message.MaxHead)]), Code: jsonrpc.CodeInvalidRequest, Message: tooLong}
			line = nil
		}
		if refused == nil {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if refused != nil {
			return nil, refused // the next call returns an error of the reader
		}
		if line = trim(line); len(line) > 0 && !json.Valid(line) {
			return nil, message.NotJSON(line, "Skipped a line that is not JSON; "+l.expected()) // the reader's error comes again too
		}
		return line, err
	}
}

// trim removes a byte order mark and white space around a message.
func trim(message []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(message, []byte("\uFEFF")))
}
