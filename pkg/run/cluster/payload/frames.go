package payload

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// frameHead is the number of bytes before the content of a frame: its length.
const frameHead = 4

// maxFrame is the most bytes of a frame: more than a line of a stream of events, or the reply of an attempt, has.
const maxFrame = 1 << 30

// frame returns content with its length.
func frame(content []byte) []byte {
	head := binary.BigEndian.AppendUint32(make([]byte, 0, len(content)+frameHead), uint32(len(content))) //nolint:gosec // a document is far shorter
	return append(head, content...)
}

// Logged returns what is on the disk of a tape that NewLog has made, also while it grows. It is empty if the tape has not been shown.
func (s *Store) Logged(log string) (Packed, error) {
	if log == "" || s.Dir == "" {
		return Packed{}, nil
	}
	if err := checkName(log); err != nil {
		return Packed{}, err
	}
	f, err := os.Open(filepath.Join(s.Dir, log))
	if errors.Is(err, fs.ErrNotExist) {
		return Packed{}, nil
	}
	if err != nil {
		return Packed{}, unreadable(log, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return Packed{}, unreadable(log, err)
	}
	last, end := int64(0), int64(0)
	for head := make([]byte, frameHead); ; {
		if _, err := f.ReadAt(head, end); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return Packed{}, unreadable(log, err)
		}
		n := int64(binary.BigEndian.Uint32(head))
		if n == 0 || n > maxFrame || end+frameHead+n > info.Size() {
			break // it is being written, or was when the machine was lost
		}
		last, end = end, end+frameHead+n
	}
	if _, err := io.Copy(io.Discard, s.unframed(io.NewSectionReader(f, last, end-last), f)); err != nil {
		end = last // likewise
	}
	if end == 0 {
		return Packed{}, nil
	}
	return Packed{File: log, Bytes: end}, nil
}

// unframed returns the data in frames. Closing it closes c.
func (s *Store) unframed(r io.Reader, c io.Closer) io.ReadCloser {
	return unzip(&frames{file: bufio.NewReader(r), codec: s.Codec}, c)
}

// frames reads the content of a file with frames.
type frames struct {
	file  io.Reader
	codec *Codec
	rest  []byte
}

func (f *frames) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		var head [frameHead]byte
		if _, err := io.ReadFull(f.file, head[:]); err != nil {
			return 0, err
		}
		n := binary.BigEndian.Uint32(head[:])
		if n > maxFrame {
			return 0, fault.New(fault.Protocol, "A file in the folder of blobs has a frame of %d bytes", n)
		}
		f.rest = make([]byte, n)
		if _, err := io.ReadFull(f.file, f.rest); err != nil {
			return 0, err
		}
		if f.codec != nil {
			var err error
			if f.rest, err = f.codec.open(f.rest); err != nil {
				return 0, fault.New(fault.Usage, "Cannot decrypt a file in the folder of blobs: %v", err).Suggest("Give --codec-key-file the key of the workers")
			}
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}
