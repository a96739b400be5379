package registry

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// leastIndexed is the size in bytes from which on a registry has an index beside it. A smaller one is read as fast.
const leastIndexed = 256 << 10

// snapshot is one state of registry.json: what is known of its entries, and their text.
type snapshot struct {
	*index
	stamp stamp
	// source is the whole file where it had to be read; else an entry is read from the file.
	source []byte
	file   *os.File
}

// look takes a snapshot. What was read before serves as long as the file is the same.
func (r *Registry) look() (*snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && r.last.source != nil {
		return r.last, nil
	}
	s, err := r.open()
	if err == nil {
		r.last = s.kept()
	}
	return s, err
}

// kept is a snapshot without its open file.
func (s *snapshot) kept() *snapshot {
	k := *s
	k.file = nil
	return &k
}

// open reads the file or, where there is one that is up to date, its index.
func (r *Registry) open() (*snapshot, error) {
	f, err := os.Open(r.home.Path(fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return r.small(nil)
	}
	if err != nil {
		return nil, unreadable(err)
	}
	s := &snapshot{file: f}
	now := r.now() // before anything is known of the file
	if s.stamp, err = stampOf(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	if r.last != nil && r.last.index != nil && r.last.stamp == s.stamp {
		s.index = r.last.index
		return s, nil
	}
	if s.stamp.size < r.leastIndexed {
		defer func() { _ = f.Close() }()
		source, err := io.ReadAll(f)
		if err != nil {
			return nil, unreadable(err)
		}
		return r.small(source)
	}
	if s.index = r.trusted(s.stamp); s.index != nil {
		return s, nil
	}
	defer func() { _ = f.Close() }()
	return r.reread(f, s.stamp, now)
}

// small is the snapshot of a registry that needs no index beside it.
func (r *Registry) small(source []byte) (*snapshot, error) {
	f, err := parseFile(source)
	if err != nil {
		return nil, err
	}
	return &snapshot{index: light(f), source: append([]byte{}, source...)}, nil
}

// trusted is the stored index when it is sure to be that of the file.
func (r *Registry) trusted(of stamp) *index {
	data, err := r.home.Read(indexName)
	if err != nil || r.distrust {
		return nil
	}
	s, ok := parseStored(data)
	if !ok || !s.settled || s.stamp != of {
		return nil
	}
	opened, _ := s.open()
	return opened
}

// reread reads the file. When the stored index is of the same content it serves; else a new one is made. A home that
// cannot be written goes without.
func (r *Registry) reread(f *os.File, of stamp, now time.Time) (*snapshot, error) {
	source, err := io.ReadAll(f)
	if err != nil {
		return nil, unreadable(err)
	}
	digest := sha256.Sum256(source)
	settled := of.settledAt(now) && int64(len(source)) == of.size
	if s := r.stored(digest); s != nil {
		if opened, ok := s.open(); ok && opened.words() != nil {
			if settled {
				s.stamp, s.settled = of, true
				r.keep(s)
			}
			return &snapshot{index: opened, stamp: of, source: source}, nil
		}
	}
	parsed, err := parseFile(source)
	if err != nil {
		return nil, err
	}
	return &snapshot{index: r.store(build(parsed), parsed, of, digest, settled), stamp: of, source: source}, nil
}

// stored is the stored index when it is of a content with that digest.
func (r *Registry) stored(digest [sha256.Size]byte) *stored {
	data, err := r.home.Read(indexName)
	if err != nil {
		return nil
	}
	if s, ok := parseStored(data); ok && s.digest == digest {
		return s
	}
	return nil
}

// matching is the stored index when it is of that content.
func (r *Registry) matching(source []byte, digest [sha256.Size]byte) *index {
	s := r.stored(digest)
	if s == nil || s.stamp.size != int64(len(source)) {
		return nil
	}
	opened, _ := s.open()
	return opened
}

// store puts the index of a registry beside the file, if that can be.
func (r *Registry) store(built *stored, f *file, of stamp, digest [sha256.Size]byte, settled bool) *index {
	built.stamp, built.digest, built.settled = of, digest, settled
	built.stamp.size = int64(len(f.source))
	r.keep(built)
	opened, _ := built.open()
	return opened
}

// keep replaces the stored index in one step. It is not synced as what cannot be made again is: its checksums tell what a
// crash has left of it.
func (r *Registry) keep(s *stored) {
	f, err := os.CreateTemp(r.home.Dir(), "."+indexName)
	if err != nil {
		return
	}
	_, err = f.Write(s.encode())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), r.home.Path(indexName))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

func unreadable(err error) *fault.Fault {
	return fault.New(fault.Internal, "Cannot read %s in the home folder: %v", fileName, fault.Reason(err)).
		Suggest("Check the folder that PFLOW_HOME names (by default ~/.pflow): its permissions and the space on its disk")
}

// errChanged says that a file was changed in place while it was read.
var errChanged = errors.New("the file changed")

// text is an entry's bytes.
func (s *snapshot) text(i int) ([]byte, error) {
	e := s.at(i)
	if s.source != nil {
		return s.source[e.offset : e.offset+e.size], nil
	}
	text := make([]byte, e.size)
	if _, err := s.file.ReadAt(text, int64(e.offset)); err != nil {
		return nil, errChanged
	}
	if now, err := stampOf(s.file); err != nil || now != s.stamp {
		return nil, errChanged
	}
	return text, nil
}

// typeOf decodes an entry.
func (s *snapshot) typeOf(i int) (nodetype.Type, error) {
	var t nodetype.Type
	text, err := s.text(i)
	if err != nil {
		return t, err
	}
	if err := t.UnmarshalJSON(text); err != nil {
		return t, brokenEntry(s.name(i), err)
	}
	t.Name = s.name(i)
	return t, nil
}

// whole reads all of the file at once, for many entries.
func (s *snapshot) whole() error {
	if s.source != nil {
		return nil
	}
	source := make([]byte, s.stamp.size)
	if _, err := s.file.ReadAt(source, 0); err != nil {
		return errChanged
	}
	if now, err := stampOf(s.file); err != nil || now != s.stamp {
		return errChanged
	}
	s.source = source
	return nil
}

// ranked is the words of the entries. When those that were stored are damaged the index is made anew.
func (s *snapshot) ranked(r *Registry) (*search.Index, error) {
	words := s.words()
	if words == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.distrust = true
		return nil, errChanged
	}
	return words, nil
}

// attempts is how often a file that changes while it is read is read again.
const attempts = 5

// read lets a function work on a snapshot, again when the file changes under it.
func (r *Registry) read(use func(*snapshot) error) error {
	for range attempts {
		s, err := r.look()
		if err == nil {
			err = use(s)
			if s.file != nil {
				_ = s.file.Close()
			}
		}
		if !errors.Is(err, errChanged) {
			return err
		}
		r.forget()
	}
	f := fault.New(fault.Conflict, "%s in the home folder keeps changing while it is read", fileName)
	f.Retryable = true
	return f.Suggest("Try again when whatever writes it is done")
}

// forget lets what was read go.
func (r *Registry) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = nil
}
