package event

import (
	"bytes"
	"encoding/json"
	"io"
)

// Blob receives content to be stored.
type Blob interface {
	io.Writer
	// ReadAt reads what was written.
	io.ReaderAt
	// Keep ends the content and returns its reference; Discard drops it. One of the two must be called.
	Keep() (ref string, err error)
	Discard()
}

// Scratch is content that only this process can read, and that is gone when the run has ended.
type Scratch interface {
	// Close ends the content, which can be read afterwards.
	io.WriteCloser
	// Content returns the first size bytes, and Open a reader of them.
	Content(size int) ([]byte, error)
	Open(size int) (io.ReadCloser, error)
	// Discard drops the content.
	Discard()
}

// Spool collects values of the stream into a list of any length. It holds about InlineLimit bytes in memory; a longer list
// becomes a blob.
type Spool struct {
	// New returns a new blob. If it is nil, the list is held in memory.
	New  func() (Blob, error)
	text []byte // the list, or the part of a long one that is not written yet
	head []byte
	blob Blob
	size int
}

// Add appends a value to the list.
func (s *Spool) Add(value json.RawMessage) error {
	separator := byte(',')
	if s.size+len(s.text) == 0 {
		separator = '['
	}
	s.text = append(append(s.text, separator), value...)
	if s.New == nil || len(s.text) < InlineLimit {
		return nil
	}
	return s.write()
}

func (s *Spool) write() (err error) {
	if s.blob == nil {
		if s.blob, err = s.New(); err != nil {
			return err
		}
		s.head = bytes.Clone(s.text[:headBytes])
	}
	s.size += len(s.text)
	_, err = s.blob.Write(s.text)
	s.text = s.text[:0]
	return err
}

// Value returns the list, or a reference to it. It is called once.
func (s *Spool) Value() (json.RawMessage, error) {
	if s.size+len(s.text) == 0 {
		return json.RawMessage("[]"), nil
	}
	s.text = append(s.text, ']')
	if s.blob == nil {
		return s.text, nil
	}
	if err := s.write(); err != nil {
		return nil, err
	}
	ref, err := s.blob.Keep()
	if err != nil {
		return nil, err
	}
	s.blob = nil
	return referenceTo(ref, s.head, s.size, MIMEJSON).Value(), nil
}

// Discard drops a list whose value is not needed.
func (s *Spool) Discard() {
	if s.blob != nil {
		s.blob.Discard()
	}
}
