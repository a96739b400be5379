package payload

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
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

// Keep is like Pack for data that must be on the disk when it returns, if there is a folder.
func (s *Store) Keep(name string, data []byte) (Packed, error) {
	t := s.NewLog(name)
	defer t.Close()
	if err := t.Append(data); err != nil {
		return Packed{}, err
	}
	if p := t.Packed(); p.File == "" {
		return p, nil
	}
	return t.Packed(), t.Show()
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
	if err := checkName(p.File); err != nil {
		return nil, err
	}
	if s.Dir == "" {
		return nil, fault.New(fault.Usage, "The data is in a file of the folder of blobs, but --blobs is not given").
			Suggest("Give --blobs DIR, the same folder as the workers have")
	}
	f, err := os.Open(filepath.Join(s.Dir, p.File))
	if err != nil {
		return nil, unreadable(p.File, err)
	}
	return s.unframed(io.LimitReader(f, p.Bytes), f), nil
}

// checkName returns a fault if the name of a file in the folder is none that a tape has.
func checkName(file string) error {
	if file != filepath.Base(file) || strings.HasPrefix(file, ".") {
		return fault.New(fault.Protocol, "The name of a file in the folder of blobs is not plain")
	}
	return nil
}

func unreadable(file string, err error) error {
	return fault.New(fault.NotFound, "Cannot read %s in the folder of blobs: %v", file, fault.Reason(err)).
		Suggest("Give --blobs the folder that all machines share, under its path on this machine")
}

// Remove removes the file of packed data, if it has one and it is still there. The data cannot be opened again.
func (s *Store) Remove(p Packed) {
	if p.File != "" && s.Dir != "" && checkName(p.File) == nil {
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
