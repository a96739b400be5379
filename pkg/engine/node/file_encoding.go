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

// encoding is the form of text in the bytes of a file. A nil function means UTF-8, which needs no conversion.
type encoding struct {
	decode, encode func() converter
	// mark is the byte order mark that a file begins with.
	mark string
	// wide is set if a file may be twice as long as its text in UTF-8.
	wide bool
}

// maxFileSize returns the most bytes of a file whose text can be a node's output.
func (e encoding) maxFileSize() int64 {
	if e.wide {
		return 2*MaxOutput + int64(len(e.mark))
	}
	return MaxOutput + int64(len(e.mark))
}

// converter converts as much of src as consists of whole characters, appends it to dst, and returns how many bytes it used.
// end is set for the last part of the text, which it must use up. An error is about the next byte of src.
type converter func(dst, src []byte, end bool) (out []byte, used int, err error)

// The byte order marks.
const (
	markUTF8    = "\xef\xbb\xbf"
	markUTF16LE = "\xff\xfe"
	markUTF16BE = "\xfe\xff"
)

// encodingNames lists the encodings for messages.
const encodingNames = "utf-8, utf-8-sig, latin-1, ascii, utf-16, utf-16-le or utf-16-be"

// encodingOf returns the encoding of a name. Case, hyphens, underscores and spaces do not matter.
func encodingOf(name string) (encoding, *fault.Fault) {
	fixed := func(s converter) func() converter { return func() converter { return s } }
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
	return encoding{}, fault.New(fault.Execution, "Unknown encoding %q", shorten(name)).
		Suggest("Use %s; a shell node converts others: iconv -f OTHER -t utf-8 FILE", encodingNames)
}

// reader returns the file's text as UTF-8.
func (e encoding) reader(file io.Reader) io.Reader {
	if e.decode == nil {
		return file
	}
	return &transcoder{from: file, step: e.decode()}
}

// writer returns the bytes of UTF-8 text in the encoding, without the mark.
func (e encoding) writer(text io.Reader) io.Reader {
	if e.encode == nil {
		return text
	}
	return &transcoder{from: text, step: e.encode()}
}

// encodingError is the error of bytes or characters that cannot be converted.
type encodingError struct {
	what string
	at   int
}

func (e *encodingError) Error() string { return fmt.Sprintf("%s, at byte %d", e.what, e.at) }

// transcoder converts what it reads.
type transcoder struct {
	from io.Reader
	step converter
	in   [32 << 10]byte
	held int // the number of bytes in in that are not converted yet
	at   int // the number of bytes that are converted
	out  []byte
	room []byte
	err  error
}

// Read returns converted bytes.
func (r *transcoder) Read(p []byte) (int, error) {
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

func (r *transcoder) fill() {
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

// decodeBytes decodes one byte per character, up to the byte most.
func decodeBytes(most byte) converter {
	return func(dst, src []byte, _ bool) ([]byte, int, error) {
		for i, c := range src {
			if c > most {
				return dst, i, fmt.Errorf("0x%02x is not a character of this encoding", c)
			}
			dst = utf8.AppendRune(dst, rune(c))
		}
		return dst, len(src), nil
	}
}

// encodeBytes encodes one byte per character, up to the character most.
func encodeBytes(most rune) converter {
	return eachRune(func(dst []byte, c rune) ([]byte, bool) { return append(dst, byte(c)), c <= most })
}

// encodeUTF16 encodes two or four bytes per character.
func encodeUTF16(order binary.AppendByteOrder) converter {
	return eachRune(func(dst []byte, c rune) ([]byte, bool) {
		if high, low := utf16.EncodeRune(c); high != utf8.RuneError {
			return order.AppendUint16(order.AppendUint16(dst, uint16(high)), uint16(low)), true //nolint:gosec // surrogates are 16 bits
		}
		return order.AppendUint16(dst, uint16(c)), true //nolint:gosec // it fits in 16 bits
	})
}

// eachRune encodes character by character; put returns false for a character that the encoding does not have.
func eachRune(put func(dst []byte, c rune) ([]byte, bool)) converter {
	return func(dst, src []byte, end bool) ([]byte, int, error) {
		used := 0
		for used < len(src) && (end || utf8.FullRune(src[used:])) {
			c, size := utf8.DecodeRune(src[used:])
			out, ok := put(dst, c)
			if !ok {
				return dst, used, fmt.Errorf("%q is not a character of this encoding", string(c))
			}
			dst, used = out, used+size
		}
		return dst, used, nil
	}
}

// decodeUTF16 decodes two or four bytes per character.
func decodeUTF16(order binary.ByteOrder) converter {
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
					return dst, used, errors.New("half of a surrogate pair is missing")
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

// decodeMarkedUTF16 decodes UTF-16 in the byte order of its mark, or little-endian if there is no mark.
func decodeMarkedUTF16() converter {
	var inner converter
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

// decodeMarkedUTF8 decodes UTF-8 without the mark that some editors write before it.
func decodeMarkedUTF8() converter {
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
				return append(dst, src[skip:used]...), used, fmt.Errorf("0x%02x is not UTF-8", src[used])
			}
			used += size
		}
		return append(dst, src[skip:used]...), used, nil
	}
}
