package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// storeBlob is the operation that a fault of a blob names.
const storeBlob = "store a long value"

// PutBlob stores content under its SHA-256 and returns the reference to it.
func (r *Writer) PutBlob(content []byte) (string, error) {
	ref := event.Digest(content)
	if exists(blobPath(r.dir, ref)) {
		return ref, nil
	}
	b, err := r.NewBlob()
	if err != nil {
		return "", err
	}
	if _, err := b.Write(content); err != nil {
		b.Discard()
		return "", err
	}
	return b.Keep()
}

// NewBlob returns a writer for a long value that is written piece by piece.
func (r *Writer) NewBlob() (event.Blob, error) {
	dir := filepath.Join(r.dir, blobsDir)
	if err := r.makeBlobs(); err != nil {
		return nil, storageFault(storeBlob, err)
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return nil, storageFault(storeBlob, err)
	}
	return &blob{dir: r.dir, f: f, hash: sha256.New(), sync: r.sync}, nil
}

// makeBlobs creates the folder of the long values.
func (r *Writer) makeBlobs() error {
	err := os.Mkdir(filepath.Join(r.dir, blobsDir), 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err == nil && r.sync:
		return syncDir(r.dir)
	}
	return err
}

// blob is a long value that is being written.
type blob struct {
	dir  string
	f    *os.File
	hash hash.Hash
	sync bool
}

// Write adds to the content.
func (b *blob) Write(p []byte) (int, error) {
	if _, err := b.f.Write(p); err != nil {
		return 0, storageFault(storeBlob, err)
	}
	return b.hash.Write(p)
}

// ReadAt reads what was written.
func (b *blob) ReadAt(p []byte, at int64) (int, error) {
	n, err := b.f.ReadAt(p, at)
	if err != nil && !errors.Is(err, io.EOF) {
		err = storageFault("read a long value", err)
	}
	return n, err
}

// refOf returns the reference to content by its hash, as event.Digest does.
func refOf(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// Keep stores the content under its SHA-256 and returns the reference to it.
func (b *blob) Keep() (string, error) {
	ref := refOf(b.hash)
	var err error
	if b.sync { // before an event refers to it
		err = b.f.Sync()
	}
	if err = errors.Join(err, b.f.Close()); err == nil {
		err = os.Rename(b.f.Name(), blobPath(b.dir, ref))
	}
	if err == nil && b.sync {
		err = syncDir(filepath.Join(b.dir, blobsDir))
	}
	if err != nil {
		_ = os.Remove(b.f.Name())
		return "", storageFault(storeBlob, err)
	}
	return ref, nil
}

// Discard removes the content.
func (b *blob) Discard() {
	_ = b.f.Close()
	_ = os.Remove(b.f.Name())
}

// Adopt takes over a long value of another run, which stays as it is. It links the file if it can, else it copies it. found
// is false if the other run no longer has the value, or has another in its place.
func (r *Writer) Adopt(ref event.Reference, from *Reader) (found bool, err error) {
	to := blobPath(r.dir, ref.Blob)
	if exists(to) {
		return true, nil
	}
	if verifyBlob(from.dir, ref.Blob) != nil {
		return false, nil // removed, incomplete after a loss of power, or changed on the disk
	}
	if err := r.makeBlobs(); err != nil {
		return true, storageFault(storeBlob, err)
	}
	if os.Link(blobPath(from.dir, ref.Blob), to) == nil {
		if r.sync {
			err = syncDir(filepath.Dir(to))
		}
		return true, err
	}
	content, err := from.Blob(ref.Blob)
	if err != nil {
		return false, nil //nolint:nilerr // to this run, a value that cannot be read is one that is missing
	}
	_, err = r.PutBlob(content)
	return true, err
}

// Blob returns a long value of the run.
func (r *Writer) Blob(ref string) ([]byte, error) { return readBlob(r.dir, ref) }

func blobPath(dir, ref string) string {
	return filepath.Join(dir, blobsDir, strings.TrimPrefix(ref, "sha256:"))
}

// OpenBlob returns a reader of a long value of the run, which must have at least size bytes. At the end it fails if the value is not what was
// stored.
func (r *Writer) OpenBlob(ref string, size int) (io.ReadCloser, error) {
	if err := checkRef(ref); err != nil {
		return nil, err
	}
	f, err := openLong(blobPath(r.dir, ref), size)
	if err != nil {
		return nil, storageFault("read a long value", err)
	}
	return struct {
		io.Reader
		io.Closer
	}{verified(f, ref), f}, nil
}

// openLong opens a regular file of at least size bytes.
func openLong(path string, size int) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() < int64(size) {
		_ = f.Close()
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	return f, nil
}

// checkRef returns an error if ref is not the name of a blob.
func checkRef(ref string) error {
	hash, ok := strings.CutPrefix(ref, "sha256:")
	if !ok || !home.IsSHA256(hash) {
		return fault.New(fault.Protocol, "%q is not the name of a blob", ref)
	}
	return nil
}

func readBlob(dir, ref string) ([]byte, error) {
	if err := checkRef(ref); err != nil {
		return nil, err
	}
	b, err := readFile(blobPath(dir, ref), "A long value of the run", maxBlob)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(ref)
	}
	if err != nil {
		return nil, storageFault("read a long value", err)
	}
	if event.Digest(b) != ref {
		return nil, rotten(ref)
	}
	return b, nil
}

// missing is the fault of a long value that is no longer stored.
func missing(ref string) error {
	return fault.New(fault.Execution, "The long value %s… of this run is missing", ref[:15]).
		Suggest("Run the node again: its output is no longer stored")
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
