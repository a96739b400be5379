package node

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// encoding is how text stands in the bytes of a file. A nil step leaves it as it is, which is UTF-8.
type encoding struct {
	decode, encode func() step
	// mark is what a file begins with.
	mark string
	// wide says that a file may be twice as long as its text in UTF-8.
	wide bool
}

// longest is how many bytes a file has at most whose text can be a node's output.
func (e encoding) longest() int64 {
	if e.wide {
		return 2*MaxOutput + int64(len(e.mark))
	}
	return MaxOutput + int64(len(e.mark))
}

// step converts the beginning of src and appends it to dst: as much as is whole. At the end of the text nothing may be left.
// The error is one of the next bytes of src.
type step func(dst, src []byte, end bool) (out []byte, used int, err error)

// The byte order marks.
const (
	markUTF8    = "\xef\xbb\xbf"
	markUTF16LE = "\xff\xfe"
	markUTF16BE = "\xfe\xff"
)

// encodingNames are the encodings as messages name them.
const encodingNames = "utf-8, utf-8-sig, latin-1, ascii, utf-16, utf-16-le or utf-16-be"

// encodingOf finds an encoding by one of its names, in upper or lower case and with - or _ or nothing between their parts.
func encodingOf(name string) (encoding, *fault.Fault) {
	fixed := func(s step) func() step { return func() step { return s } }
	switch strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name)) {
	case "utf8", "u8":
		return encoding{}, nil
	case "utf8sig", "utf8bom":
		return encoding{decode: decodeMarkedUTF8, mark: markUTF8}, nil
	case "latin1", "iso88591", "l1":
		return encoding{decode: fixed(decodeBytes(0xff)), encode: fixed(encodeBytes(0xff))}, nil
	case "ascii", "usascii":
		return encoding{decode: fixed(decodeBytes(0x7f)), encode: fixed(encodeBytes(0x7f))}, nil
	case "utf16":
		return encoding{decode: decodeMarkedUTF16, encode: fixed(encodeUTF16(binary.LittleEndian)), mark: markUTF16LE, wide: true}, nil
	case "utf16le":
		return encoding{decode: fixed(decodeUTF16(binary.LittleEndian)), encode: fixed(encodeUTF16(binary.LittleEndian)), wide: true}, nil
	case "utf16be":
		return encoding{decode: fixed(decodeUTF16(binary.BigEndian)), encode: fixed(encodeUTF16(binary.BigEndian)), wide: true}, nil
	}
	return encoding{}, fault.New(fault.Execution, "Unknown encoding %q", excerpt(name)).
		Suggest("Use %s; a shell node converts others: iconv -f OTHER -t utf-8 FILE", encodingNames)
}

// reader gives the text of a file as UTF-8.
func (e encoding) reader(file io.Reader) io.Reader {
	if e.decode == nil {
		return file
	}
	return &recoder{from: file, step: e.decode()}
}

// writer gives the bytes that text in UTF-8 has in a file, without the mark.
func (e encoding) writer(text io.Reader) io.Reader {
	if e.encode == nil {
		return text
	}
	return &recoder{from: text, step: e.encode()}
}

// encodingError says what cannot be converted, and where.
type encodingError struct {
	what string
	at   int
}

func (e *encodingError) Error() string { return fmt.Sprintf("%s, at byte %d", e.what, e.at) }

// recoder converts what it reads.
type recoder struct {
	from io.Reader
	step step
	in   [32 << 10]byte
	held int // bytes of in that are not converted yet
	at   int // bytes that are
	out  []byte
	room []byte
	err  error
}

// Read gives what is converted.
func (r *recoder) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

func (r *recoder) fill() {
	n, err := r.from.Read(r.in[r.held:])
	r.held += n
	end := errors.Is(err, io.EOF)
	if err != nil && !end {
		r.err = err
		return
	}
	out, used, wrong := r.step(r.room[:0], r.in[:r.held], end)
	r.out, r.room = out, out
	r.at += used
	r.held = copy(r.in[:], r.in[used:r.held])
	switch {
	case wrong != nil:
		r.err = &encodingError{wrong.Error(), r.at}
	case end:
		r.err = io.EOF
	}
}

// decodeBytes reads bytes that are characters of their own, up to a greatest.
func decodeBytes(most byte) step {
	return func(dst, src []byte, _ bool) ([]byte, int, error) {
		for i, c := range src {
			if c > most {
				return dst, i, fmt.Errorf("0x%02x is no character of it", c)
			}
			dst = utf8.AppendRune(dst, rune(c))
		}
		return dst, len(src), nil
	}
}

// encodeBytes writes a byte a character.
func encodeBytes(most rune) step {
	return eachRune(func(dst []byte, c rune) ([]byte, bool) { return append(dst, byte(c)), c <= most })
}

// encodeUTF16 writes two bytes a character, or four.
func encodeUTF16(order binary.AppendByteOrder) step {
	return eachRune(func(dst []byte, c rune) ([]byte, bool) {
		if high, low := utf16.EncodeRune(c); high != utf8.RuneError {
			return order.AppendUint16(order.AppendUint16(dst, uint16(high)), uint16(low)), true //nolint:gosec // halves of a pair
		}
		return order.AppendUint16(dst, uint16(c)), true //nolint:gosec // it needs no pair
	})
}

func eachRune(put func(dst []byte, c rune) ([]byte, bool)) step {
	return func(dst, src []byte, end bool) ([]byte, int, error) {
		used := 0
		for used < len(src) && (end || utf8.FullRune(src[used:])) {
			c, size := utf8.DecodeRune(src[used:])
			out, ok := put(dst, c)
			if !ok {
				return dst, used, fmt.Errorf("%q is no character of it", string(c))
			}
			dst, used = out, used+size
		}
		return dst, used, nil
	}
}

// decodeUTF16 reads two bytes a character, or four.
func decodeUTF16(order binary.ByteOrder) step {
	return func(dst, src []byte, end bool) ([]byte, int, error) {
		used := 0
		for len(src)-used >= 2 {
			c, size := rune(order.Uint16(src[used:])), 2
			if utf16.IsSurrogate(c) {
				if len(src)-used < 4 && !end {
					return dst, used, nil
				}
				if size = 4; len(src)-used >= size {
					c = utf16.DecodeRune(c, rune(order.Uint16(src[used+2:])))
				}
				if c == utf8.RuneError || utf16.IsSurrogate(c) {
					return dst, used, errors.New("half of a pair of surrogates stands alone")
				}
			}
			dst, used = utf8.AppendRune(dst, c), used+size
		}
		if end && used < len(src) {
			return dst, used, errors.New("the last character is cut off")
		}
		return dst, used, nil
	}
}

// decodeMarkedUTF16 reads UTF-16 whose mark says which byte comes first: without one it is the lower.
func decodeMarkedUTF16() step {
	var inner step
	return func(dst, src []byte, end bool) ([]byte, int, error) {
		if inner != nil {
			return inner(dst, src, end)
		}
		if len(src) < 2 && !end {
			return dst, 0, nil
		}
		skip := 0
		inner = decodeUTF16(binary.LittleEndian)
		switch {
		case strings.HasPrefix(string(src[:min(2, len(src))]), markUTF16BE):
			skip, inner = 2, decodeUTF16(binary.BigEndian)
		case strings.HasPrefix(string(src[:min(2, len(src))]), markUTF16LE):
			skip = 2
		}
		dst, used, err := inner(dst, src[skip:], end)
		return dst, skip + used, err
	}
}

// decodeMarkedUTF8 reads UTF-8 and takes the mark away that some editors put before it.
func decodeMarkedUTF8() step {
	begun := false
	return func(dst, src []byte, end bool) ([]byte, int, error) {
		skip := 0
		if !begun {
			if len(src) < len(markUTF8) && !end {
				return dst, 0, nil
			}
			begun = true
			if strings.HasPrefix(string(src[:min(len(markUTF8), len(src))]), markUTF8) {
				skip = len(markUTF8)
			}
		}
		used := skip
		for used < len(src) {
			c, size := utf8.DecodeRune(src[used:])
			if c == utf8.RuneError && size == 1 {
				if !end && !utf8.FullRune(src[used:]) {
					break
				}
				return append(dst, src[skip:used]...), used, fmt.Errorf("0x%02x is no UTF-8", src[used])
			}
			used += size
		}
		return append(dst, src[skip:used]...), used, nil
	}
}
