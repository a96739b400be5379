package rawjson

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// QuotingReader returns a reader of a text as a JSON string, as Quote writes it.
func QuotingReader(text io.Reader) io.Reader {
	return io.MultiReader(strings.NewReader(`"`), &quoting{from: text, piece: make([]byte, 32<<10)}, strings.NewReader(`"`))
}

// quoting reads a text with what a JSON string must escape escaped.
type quoting struct {
	from       io.Reader
	piece      []byte
	quoted, to []byte // what is left of quoted is in to
	err        error
}

func (q *quoting) Read(p []byte) (int, error) {
	for len(q.to) == 0 && q.err == nil {
		var n int
		n, q.err = q.from.Read(q.piece)
		q.quoted = AppendQuoted(q.quoted[:0], q.piece[:n])
		q.to = q.quoted[1 : len(q.quoted)-1]
	}
	if len(q.to) == 0 {
		return 0, q.err
	}
	n := copy(p, q.to)
	q.to = q.to[n:]
	return n, nil
}

// UnquotingWriter writes the text of a JSON string that comes in pieces, without its quotes. A lone surrogate becomes U+FFFD.
type UnquotingWriter struct {
	To io.Writer
	// escape is the beginning of an escape, high the surrogate before it, or 0.
	escape []byte
	high   rune
	text   []byte
}

var errEscape = errors.New("a JSON string has an invalid escape")

// Write writes the text of a piece, except for what may go on in the next one.
func (u *UnquotingWriter) Write(p []byte) (int, error) {
	u.text = u.text[:0]
	for _, c := range p {
		switch {
		case len(u.escape) > 0:
			if u.escape = append(u.escape, c); !u.complete() {
				continue
			}
			if !u.unescape() {
				return 0, errEscape
			}
			u.escape = u.escape[:0]
		case c == '\\':
			u.escape = append(u.escape, c)
		default:
			u.endPair()
			u.text = append(u.text, c)
		}
	}
	if _, err := u.To.Write(u.text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what the last piece has left open. It returns an error if the string ends within an escape.
func (u *UnquotingWriter) Close() error {
	if len(u.escape) > 0 {
		return errEscape
	}
	u.text = u.text[:0]
	u.endPair()
	_, err := u.To.Write(u.text)
	return err
}

// complete reports whether the escape has all its characters.
func (u *UnquotingWriter) complete() bool {
	return u.escape[1] != 'u' || len(u.escape) == len(`\u0000`)
}

// endPair writes a high surrogate that no low one follows.
func (u *UnquotingWriter) endPair() {
	if u.high != 0 {
		u.text, u.high = utf8.AppendRune(u.text, utf8.RuneError), 0
	}
}

// unescape writes the character of the escape.
func (u *UnquotingWriter) unescape() bool {
	if u.escape[1] == 'u' {
		code, err := strconv.ParseUint(string(u.escape[2:]), 16, 16)
		u.unit(rune(code))
		return err == nil
	}
	u.endPair()
	switch c := u.escape[1]; c {
	case '"', '\\', '/':
		u.text = append(u.text, c)
	case 'b':
		u.text = append(u.text, '\b')
	case 'f':
		u.text = append(u.text, '\f')
	case 'n':
		u.text = append(u.text, '\n')
	case 'r':
		u.text = append(u.text, '\r')
	case 't':
		u.text = append(u.text, '\t')
	default:
		return false
	}
	return true
}

// unit writes a character of UTF-16, or the second half of one.
func (u *UnquotingWriter) unit(c rune) {
	if pair := utf16.DecodeRune(u.high, c); u.high != 0 && pair != utf8.RuneError {
		u.text, u.high = utf8.AppendRune(u.text, pair), 0
		return
	}
	u.endPair()
	switch {
	case c >= 0xd800 && c < 0xdc00:
		u.high = c
	case utf16.IsSurrogate(c):
		u.text = utf8.AppendRune(u.text, utf8.RuneError)
	default:
		u.text = utf8.AppendRune(u.text, c)
	}
}
