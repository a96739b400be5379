// Package stored reads and writes what is kept in a file to save the work of computing it again, such as an index: a head,
// numbers and texts, and a checksum. Such a file can be deleted at any time, and one that is damaged or of another kind is not
// read.
package stored

import (
	"encoding/binary"
	"hash/crc32"
)

// Writer collects the content of a file, or of a part of it. The zero value has nothing.
type Writer struct{ data []byte }

// New returns the writer of a file whose head names its kind, the version of its form, and what it was computed from.
func New(head string) *Writer {
	w := &Writer{}
	w.Text(head)
	return w
}

// Number adds a number.
func (w *Writer) Number(n uint64) { w.data = binary.AppendUvarint(w.data, n) }

// Text adds a text of any bytes.
func (w *Writer) Text(s string) {
	w.Number(uint64(len(s)))
	w.data = append(w.data, s...)
}

// Bytes adds a text.
func (w *Writer) Bytes(b []byte) {
	w.Number(uint64(len(b)))
	w.data = append(w.data, b...)
}

// Len returns the number of bytes so far.
func (w *Writer) Len() int { return len(w.data) }

// Data returns what was added so far, as Part reads it.
func (w *Writer) Data() []byte { return w.data }

// Seal returns the content of the file with its checksum.
func (w *Writer) Seal() []byte { return Seal(w.data) }

// Seal appends to data its checksum.
func Seal(data []byte) []byte { return binary.LittleEndian.AppendUint32(data, checksum(data)) }

func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// Reader reads the numbers and texts of a file in the order in which they were written. After it met something else, it returns
// zero values.
type Reader struct {
	rest   []byte
	broken bool
}

// Open returns a reader of a file, behind the head. It returns nil if the checksum or the head is not the expected one.
func Open(data []byte, head string) *Reader {
	end := len(data) - crc32.Size
	if end < 0 || binary.LittleEndian.Uint32(data[end:]) != checksum(data[:end]) {
		return nil
	}
	return Parse(data[:end], head)
}

// Parse is Open for data without a checksum.
func Parse(data []byte, head string) *Reader {
	r := &Reader{rest: data}
	if string(r.Bytes()) != head || r.broken {
		return nil
	}
	return r
}

// Part returns a reader of a part of a file, such as a text in which a Writer collected more than one value.
func Part(data []byte) Reader { return Reader{rest: data} }

// Number reads a number.
func (r *Reader) Number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.Break()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Bytes reads a text without copying it.
func (r *Reader) Bytes() []byte {
	n := r.Number()
	if n > uint64(len(r.rest)) {
		r.Break()
		return nil
	}
	part := r.rest[:n:n]
	r.rest = r.rest[n:]
	return part
}

// Text reads a text.
func (r *Reader) Text() string { return string(r.Bytes()) }

// More reports whether there is something left to read.
func (r *Reader) More() bool { return len(r.rest) > 0 }

// Break ends the reading: what was read cannot be right.
func (r *Reader) Break() { r.rest, r.broken = nil, true }

// OK reports whether everything that was read could be read.
func (r *Reader) OK() bool { return !r.broken }
