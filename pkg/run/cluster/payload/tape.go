package payload

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Tape is data that grows, such as the events of a run. It is compressed piece by piece, and moves to a file when it is too long for a
// payload. It must not be used by several goroutines at once.
type Tape struct {
	store *Store
	name  string
	zip   []byte
	// overflown is set when the data is too long for zip. Then only the file has it.
	overflown bool
	file      *os.File
	bytes     int64
	// zipper compresses short pieces. It is kept, because it is large.
	zipper *gzip.Writer
	// logs writes all data to the file at once; hidden is set until Show.
	logs, hidden bool
}

// NewTape returns an empty tape. Its file has the name and something random.
func (s *Store) NewTape(name string) *Tape { return &Tape{store: s, name: name + "-" + rand.Text()} }

// NewLog returns an empty tape whose data is in its file on the disk when Append returns, if there is a folder. Others can read the file
// after Show.
func (s *Store) NewLog(name string) *Tape {
	t := s.NewTape(name)
	t.logs = s.Dir != ""
	t.hidden = t.logs
	return t
}

// Log returns the name of the file of a tape that NewLog has made, for Store.Logged, or "" without a folder.
func (t *Tape) Log() string {
	if !t.logs {
		return ""
	}
	return t.name
}

// Append adds data. If it fails, the tape is as before. Without a folder, a tape beyond Limit is a too_large.
func (t *Tape) Append(data []byte) error {
	piece, err := t.compress(data)
	if err != nil {
		return fault.From(err)
	}
	if t.logs || t.overflown {
		if err := t.write(piece); err != nil {
			return err
		}
	}
	if t.overflown {
		return nil
	}
	whole := append(slices.Clip(t.zip), piece...)
	if len(whole) <= Limit {
		t.zip = whole
		return nil
	}
	if t.store.Dir == "" {
		return fault.New(fault.TooLarge, "The data has more than %d MiB when compressed, which is more than a cluster takes", Limit>>20).
			Suggest("Give --blobs DIR, a folder that all machines share, to the workers and to the commands")
	}
	if !t.logs {
		if err := t.write(whole); err != nil {
			return err
		}
	}
	t.zip, t.overflown = nil, true
	return nil
}

// compress returns data as a member of a gzip stream.
func (t *Tape) compress(data []byte) (_ []byte, err error) {
	var piece bytes.Buffer
	w := t.zipper
	switch {
	case len(data) > Limit: // a run waits for this
		w, err = gzip.NewWriterLevel(&piece, gzip.BestSpeed)
	case w == nil:
		w = gzip.NewWriter(&piece)
		t.zipper = w
	default:
		w.Reset(&piece)
	}
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close())
	return piece.Bytes(), err
}

// write adds a frame to the file.
func (t *Tape) write(content []byte) (err error) {
	if t.file == nil {
		if t.file, err = os.OpenFile(t.path(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
			return t.unwritable(err)
		}
	}
	if t.store.Codec != nil {
		content = t.store.Codec.seal(content)
	}
	if _, err = t.file.WriteAt(frame(content), t.bytes); err == nil && t.logs {
		err = t.file.Sync()
	}
	if err != nil {
		return t.unwritable(err)
	}
	t.bytes += int64(frameHead + len(content))
	return nil
}

func (t *Tape) unwritable(err error) error {
	return fault.New(fault.Execution, "Cannot write to the folder of blobs %s: %v", t.store.Dir, fault.Reason(err))
}

// path returns the path of the file.
func (t *Tape) path() string {
	if t.hidden {
		return filepath.Join(t.store.Dir, HiddenPrefix+t.name)
	}
	return filepath.Join(t.store.Dir, t.name)
}

// HiddenPrefix begins the name of the file of a log that was not shown.
const HiddenPrefix = "."

// Show gives the file of a log its name. A tape that is none, or has no data, stays as it is.
func (t *Tape) Show() error {
	if !t.hidden || t.file == nil {
		return nil
	}
	from := t.path()
	t.hidden = false
	err := os.Rename(from, t.path())
	if err == nil {
		err = syncFolder(t.store.Dir)
	}
	if err != nil {
		return t.unwritable(err)
	}
	return nil
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Packed returns the data so far.
func (t *Tape) Packed() Packed {
	if t.overflown {
		return Packed{File: t.name, Bytes: t.bytes}
	}
	return Packed{Zip: t.zip}
}

// Close closes the file of the tape, which stays, unless Show was not called.
func (t *Tape) Close() {
	if t.file != nil {
		_ = t.file.Close()
		if t.hidden {
			_ = os.Remove(t.path())
		}
	}
}
