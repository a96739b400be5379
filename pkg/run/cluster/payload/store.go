package payload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Limit is the most bytes of compressed data in one payload. A cluster takes payloads of 2 MB.
const Limit = 1 << 20

// Packed is data as it crosses a cluster.
type Packed struct {
	// Zip is the data, compressed. It is empty if File is set.
	Zip []byte `json:"zip,omitempty"`
	// File names the file of the shared folder with the data, and Bytes is the part of the file that counts.
	File  string `json:"file,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
}

// Empty reports whether there is no data.
func (p Packed) Empty() bool { return len(p.Zip) == 0 && p.File == "" }

// Store packs data and reads it again.
type Store struct {
	// Dir is the folder that all machines share, or empty.
	Dir string
	// Codec encrypts the files in the folder, unless it is nil.
	Codec *Codec
}

// Pack packs data. Without a folder, data beyond Limit is a too_large.
func (s *Store) Pack(name string, data []byte) (Packed, error) {
	t := s.NewTape(name)
	defer t.Close()
	if err := t.Append(data); err != nil {
		return Packed{}, err
	}
	return t.Packed(), nil
}

// Unpack returns packed data, of which it reads at most limit bytes; more is a too_large.
func (s *Store) Unpack(p Packed, limit int64) ([]byte, error) {
	r, err := s.Open(p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fault.New(fault.TooLarge, "The data from the cluster has more than %d MiB", limit>>20)
	}
	return data, err
}

// Open reads packed data as a stream.
func (s *Store) Open(p Packed) (io.ReadCloser, error) {
	if p.File == "" {
		return unzip(bytes.NewReader(p.Zip), io.NopCloser(nil)), nil
	}
	if p.File != filepath.Base(p.File) || strings.HasPrefix(p.File, ".") {
		return nil, fault.New(fault.Protocol, "The name of a file in the folder of blobs is not plain")
	}
	if s.Dir == "" {
		return nil, fault.New(fault.Usage, "The data is in a file of the folder of blobs, but --blobs is not given").
			Suggest("Give --blobs DIR, the same folder as the workers have")
	}
	f, err := os.Open(filepath.Join(s.Dir, p.File))
	if err != nil {
		return nil, fault.New(fault.NotFound, "Cannot read %s in the folder of blobs: %v", p.File, fault.Reason(err)).
			Suggest("Give --blobs the folder that all machines share, under its path on this machine")
	}
	return unzip(&frames{file: bufio.NewReader(io.LimitReader(f, p.Bytes)), codec: s.Codec}, f), nil
}

// Remove removes the file of packed data, if it has one and it is still there. The data cannot be opened again.
func (s *Store) Remove(p Packed) {
	if p.File != "" && s.Dir != "" && p.File == filepath.Base(p.File) {
		_ = os.Remove(filepath.Join(s.Dir, p.File))
	}
}

// unzip returns the data that r has compressed. Closing it closes c.
func unzip(r io.Reader, c io.Closer) io.ReadCloser {
	return &unzipped{from: r, Closer: c}
}

type unzipped struct {
	from io.Reader
	zip  *gzip.Reader
	io.Closer
}

func (u *unzipped) Read(p []byte) (n int, err error) {
	if u.zip == nil {
		if u.zip, err = gzip.NewReader(u.from); err != nil {
			return 0, err // io.EOF if there is no data
		}
	}
	return u.zip.Read(p)
}

// Tape is data that grows, such as the events of a run. It is compressed piece by piece, and moves to a file when it is too long for a
// payload. It must not be used by several goroutines at once.
type Tape struct {
	store *Store
	name  string
	zip   []byte
	file  *os.File
	bytes int64
}

// NewTape returns an empty tape. Its file has the name and something random.
func (s *Store) NewTape(name string) *Tape { return &Tape{store: s, name: name + "-" + rand.Text()} }

// Append adds data. If it fails, the tape is as before. Without a folder, a tape beyond Limit is a too_large.
func (t *Tape) Append(data []byte) error {
	var piece bytes.Buffer
	w := gzip.NewWriter(&piece)
	_, err := w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		return fault.From(err)
	}
	if t.file != nil {
		return t.write(piece.Bytes())
	}
	whole := append(slices.Clip(t.zip), piece.Bytes()...)
	if len(whole) <= Limit {
		t.zip = whole
		return nil
	}
	if t.store.Dir == "" {
		return fault.New(fault.TooLarge, "The data has more than %d MiB when compressed, which is more than a cluster takes", Limit>>20).
			Suggest("Give --blobs DIR, a folder that all machines share, to the workers and to the commands")
	}
	if t.file, err = os.OpenFile(filepath.Join(t.store.Dir, t.name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return fault.New(fault.Execution, "Cannot create a file in the folder of blobs %s: %v", t.store.Dir, fault.Reason(err))
	}
	t.zip = nil
	return t.write(whole)
}

// write adds a frame to the file: its length in 4 bytes, and its content.
func (t *Tape) write(content []byte) error {
	if t.store.Codec != nil {
		content = t.store.Codec.seal(content)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, len(content)+4), uint32(len(content))) //nolint:gosec // a document is far shorter
	frame = append(frame, content...)
	if _, err := t.file.WriteAt(frame, t.bytes); err != nil {
		return fault.New(fault.Execution, "Cannot write to the folder of blobs %s: %v", t.store.Dir, fault.Reason(err))
	}
	t.bytes += int64(len(frame))
	return nil
}

// Packed returns the data so far.
func (t *Tape) Packed() Packed {
	if t.file != nil {
		return Packed{File: t.name, Bytes: t.bytes}
	}
	return Packed{Zip: t.zip}
}

// Close closes the file of the tape, which stays.
func (t *Tape) Close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}

// frames reads the content of a file with frames.
type frames struct {
	file  io.Reader
	codec *Codec
	rest  []byte
}

// maxFrame is the most bytes of a frame: more than a line of a stream of events, or the reply of an attempt, has.
const maxFrame = 1 << 30

func (f *frames) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		var head [4]byte
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
