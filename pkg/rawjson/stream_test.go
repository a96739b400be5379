package rawjson

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestStreams(t *testing.T) {
	for _, text := range []string{"", "x", "é\n\t\r\"\\\x00\x1f/", strings.Repeat("\n", 100_000), strings.Repeat("a😀\\", 30_000)} {
		quoted, err := io.ReadAll(iotest.OneByteReader(QuotingReader(strings.NewReader(text))))
		if err != nil || !bytes.Equal(quoted, Quote(text)) {
			t.Errorf("%v: %.100q is not %.100q", err, quoted, Quote(text))
		}
		for _, n := range []int{1, 7, 1 << 20} {
			if got, err := unquoted(string(quoted), n); err != nil || got != text {
				t.Errorf("%v: in pieces of %d bytes: %.100q", err, n, got)
			}
		}
	}
	if _, err := io.ReadAll(QuotingReader(iotest.ErrReader(io.ErrUnexpectedEOF))); err == nil {
		t.Error("an error is lost")
	}
	for _, quoted := range []string{`"\u00e9\ud83d\ude00\b\f\/"`, `"\ud83d"`, `"\ud83dx\ude00"`, `"\ud83d\ud83d\ude00\ud83d\n"`} {
		var want string
		if err := json.Unmarshal([]byte(quoted), &want); err != nil {
			t.Fatal(err)
		}
		if got, err := unquoted(quoted, 1); err != nil || got != want {
			t.Errorf("%s: %q, %v", quoted, got, err)
		}
	}
	for _, quoted := range []string{`"\x"`, `"\u12g4"`, `"\u12"`, `"\"`} {
		if got, err := unquoted(quoted, 1); err == nil {
			t.Errorf("%s: %q", quoted, got)
		}
	}
}

// unquoted returns the text of a JSON string that comes in pieces of n bytes.
func unquoted(quoted string, n int) (string, error) {
	var to bytes.Buffer
	u := &UnquotingWriter{To: &to}
	for rest := quoted[1 : len(quoted)-1]; rest != ""; {
		k := min(n, len(rest))
		if _, err := io.WriteString(u, rest[:k]); err != nil {
			return "", err
		}
		rest = rest[k:]
	}
	err := u.Close()
	return to.String(), err
}
