package stdio

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLongLineIsSkippedAlone(t *testing.T) {
	l, _ := FramingNewline.of(io.MultiReader(
		strings.NewReader("\uFEFF\"first\"\r\n"), io.LimitReader(blanks{}, maxMessage+1), strings.NewReader("\n\"last\"")))
	if line, err := l.next(); string(line) != `"first"` || err != nil {
		t.Errorf("%q %v", line, err)
	}
	if line, err := l.next(); len(line) > 0 || !errors.Is(err, errLineTooLong) {
		t.Errorf("%d bytes, %v", len(line), err)
	}
	if line, err := l.next(); string(line) != `"last"` || !errors.Is(err, io.EOF) {
		t.Errorf("%q %v", line, err)
	}
}

func TestLongLineAtTheEnd(t *testing.T) {
	l, _ := FramingNewline.of(io.LimitReader(blanks{}, maxMessage+1))
	if _, err := l.next(); !errors.Is(err, errLineTooLong) {
		t.Error(err)
	}
	if line, err := l.next(); len(line) > 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%q %v", line, err)
	}
}

// blanks reads as spaces without end.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	const some = "                                                                "
	for n := 0; n < len(p); {
		n += copy(p[n:], some)
	}
	return len(p), nil
}
