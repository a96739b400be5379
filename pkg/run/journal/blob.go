package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// keeping is what was to be done when a blob could not be written.
const keeping = "keep a long value"

// PutBlob keeps content under its hash and gives the reference to it.
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

// NewBlob begins a long value that is written piece by piece.
func (r *Writer) NewBlob() (event.Blob, error) {
	dir := filepath.Join(r.dir, blobsDir)
	if err := r.makeBlobs(); err != nil {
		return nil, recordFault(keeping, err)
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return nil, recordFault(keeping, err)
	}
	return &blob{dir: r.dir, f: f, hash: sha256.New(), sync: r.sync}, nil
}

// makeBlobs makes the folder of the long values.
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

// Write takes more of the content.
func (b *blob) Write(p []byte) (int, error) {
	if _, err := b.f.Write(p); err != nil {
		return 0, recordFault(keeping, err)
	}
	return b.hash.Write(p)
}

// Keep gives the content its name.
func (b *blob) Keep() (string, error) {
	ref := "sha256:" + hex.EncodeToString(b.hash.Sum(nil))
	var err error
	if b.sync { // the journal must not speak of what the disk does not have
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
		return "", recordFault(keeping, err)
	}
	return ref, nil
}

// Discard forgets the content.
func (b *blob) Discard() {
	_ = b.f.Close()
	_ = os.Remove(b.f.Name())
}

// Adopt takes over a long value of another run, which is not changed by it, and says whether that has it. The disk holds
// it once where it can.
func (r *Writer) Adopt(ref event.Reference, from *Reader) (found bool, err error) {
	to := blobPath(r.dir, ref.Blob)
	if exists(to) {
		return true, nil
	}
	if info, err := os.Stat(blobPath(from.dir, ref.Blob)); err != nil || info.Size() != int64(ref.Bytes) {
		return false, nil //nolint:nilerr // it is gone, or a loss of power left only some of it
	}
	if err := r.makeBlobs(); err != nil {
		return true, recordFault(keeping, err)
	}
	if os.Link(blobPath(from.dir, ref.Blob), to) == nil {
		if r.sync {
			err = syncDir(filepath.Dir(to))
		}
		return true, err
	}
	content, err := from.Blob(ref.Blob)
	if err != nil {
		return false, nil //nolint:nilerr // that it cannot be read is no fault of this run's record
	}
	_, err = r.PutBlob(content)
	return true, err
}

// Blob fetches a long value.
func (r *Writer) Blob(ref string) ([]byte, error) { return readBlob(r.dir, ref) }

func blobPath(dir, ref string) string {
	return filepath.Join(dir, blobsDir, strings.TrimPrefix(ref, "sha256:"))
}

func readBlob(dir, ref string) ([]byte, error) {
	hash, ok := strings.CutPrefix(ref, "sha256:")
	if !ok || len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return nil, fault.New(fault.Protocol, "%q is no blob's name", ref)
	}
	b, err := os.ReadFile(blobPath(dir, ref))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Execution, "The long value %s… of this run is missing", ref[:15]).
			Suggest("Run the node again: what it put out is no longer kept")
	}
	if err != nil {
		return nil, recordFault("read a long value", err)
	}
	return b, nil
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
