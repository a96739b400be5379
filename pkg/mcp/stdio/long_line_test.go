//go:build !race

package stdio

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/message"
)

func TestLongLineIsSkippedAlone(t *testing.T) {
	l, _ := FramingNewline.of(io.MultiReader(
		strings.NewReader("\uFEFF\"first\"\r\n"), io.LimitReader(blanks{}, maxMessage+1), strings.NewReader("\n\"last\"")))
	if line, err := l.next(); string(line) != `"first"` || err != nil {
		t.Errorf("%q %v", line, err)
	}
	if line, err := l.next(); len(line) > 0 || !isTooLong(err) {
		t.Errorf("%d bytes, %v", len(line), err)
	}
	if line, err := l.next(); string(line) != `"last"` || !errors.Is(err, io.EOF) {
		t.Errorf("%q %v", line, err)
	}
}

func TestLongLineAtTheEnd(t *testing.T) {
	l, _ := FramingNewline.of(io.LimitReader(blanks{}, maxMessage+1))
	if _, err := l.next(); !isTooLong(err) {
		t.Error(err)
	}
	if line, err := l.next(); len(line) > 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%q %v", line, err)
	}
}

// TestLongRequestIsRefusedByItsID: the client would wait for the answer without end otherwise.
func TestLongRequestIsRefusedByItsID(t *testing.T) {
	for begin, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"`:                           `7`,
		`{ "id":"a\"b","params":{"id":8,"method":"x"},"method":"tools/call","x":[`:                `"a\"b"`,
		`{"jsonrpc":"2.0","id":7,"result":{"method":"`:                                            ``, // an answer
		`{"jsonrpc":"2.0","method":"tools/call","params":{"id":7,"a":"`:                           ``,
		`{"jsonrpc":"2.0","id":{"a":1},"method":"tools/call","params":{"a":"`:                     ``,
		`[{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"`:                          ``,
		`{"jsonrpc":"2.0","x":"` + strings.Repeat("x", message.MaxHead) + `","id":7,"method":"x"`: ``,
	} {
		l, _ := FramingNewline.of(io.MultiReader(strings.NewReader(begin), io.LimitReader(blanks{}, maxMessage), strings.NewReader("\"}}\n1")))
		_, err := l.next()
		if refused, ok := errors.AsType[*message.Refusal](err); !ok || string(refused.ID) != want || refused.Message != tooLong {
			t.Errorf("%.80s: %+v", begin, err)
		}
		if line, _ := l.next(); string(line) != "1" {
			t.Errorf("%q", line)
		}
	}
}
