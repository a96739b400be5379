package journal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/pflow-suite/pflow/pkg/event"
)

// scratchDir holds, while the run is live, what must not stay: output that is longer than memory should hold, secrets included.
const scratchDir = "scratch"

// scratches makes the files of a run's scratch folder. They are encrypted with a key that is only in this process, so that
// nothing can be read of what a killed process leaves.
type scratches struct {
	mu    sync.Mutex
	block cipher.Block
	count uint64
	dir   string
}

// create creates a file and returns its number. The folder and the key are made when they are first needed.
func (s *scratches) create(dir string) (number uint64, f *os.File, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.block == nil {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		if s.block, err = aes.NewCipher(key); err != nil {
			return 0, nil, err
		}
		s.dir = filepath.Join(dir, scratchDir)
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil && !os.IsExist(err) {
		return 0, nil, err
	}
	s.count++
	f, err = os.CreateTemp(s.dir, "")
	return s.count, f, err
}

// remove removes the folder with all its files.
func (s *scratches) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// stream returns the key stream of a file.
func (s *scratches) stream(number uint64) cipher.Stream {
	iv := make([]byte, aes.BlockSize) // the other half counts blocks
	binary.BigEndian.PutUint64(iv, number)
	return cipher.NewCTR(s.block, iv)
}

// NewScratch returns content that only this process can read, until the run is closed.
func (r *Writer) NewScratch() (event.Scratch, error) {
	number, f, err := r.scratches.create(r.dir)
	if err != nil {
		return nil, storageFault(storeScratch, err)
	}
	return &scratch{of: &r.scratches, number: number, f: f, to: cipher.StreamWriter{S: r.scratches.stream(number), W: f}}, nil
}

// storeScratch is the operation that a fault of a scratch names.
const storeScratch = "store the output of a node for the time of the run"

// scratch is an encrypted file.
type scratch struct {
	of     *scratches
	number uint64
	f      *os.File
	to     cipher.StreamWriter
}

// Write adds to the content.
func (s *scratch) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if err != nil {
		err = storageFault(storeScratch, err)
	}
	return n, err
}

// Content returns the first size bytes.
func (s *scratch) Content(size int) ([]byte, error) {
	r, err := s.Open(size)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	content := make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, storageFault("read the output of a node", err)
	}
	return content, nil
}

// Open returns a reader of the first size bytes.
func (s *scratch) Open(size int) (io.ReadCloser, error) {
	f, err := openLong(s.f.Name(), size)
	if err != nil {
		return nil, storageFault("read the output of a node", err)
	}
	return struct {
		io.Reader
		io.Closer
	}{cipher.StreamReader{S: s.of.stream(s.number), R: io.LimitReader(f, int64(size))}, f}, nil
}

// Close ends the content. It can still be read.
func (s *scratch) Close() error { return s.f.Close() }

// Discard removes the content.
func (s *scratch) Discard() {
	_ = s.f.Close()
	_ = os.Remove(s.f.Name())
}
