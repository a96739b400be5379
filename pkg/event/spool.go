package event

import (
	"bytes"
	"encoding/json"
	"io"
)

// Blob is content on its way to where long values are kept.
type Blob interface {
	io.Writer
	// Keep ends the content and gives the reference to it; Discard forgets it. One of the two is to be called.
	Keep() (ref string, err error)
	Discard()
}

// Spool is a list of values of the stream, of any length. No more than about InlineLimit bytes of it are held in memory:
// a longer one becomes a blob.
type Spool struct {
	// New makes a blob; without it all is held in memory.
	New  func() (Blob, error)
	text []byte // all of it, or of a long one what is not written yet
	head []byte
	blob Blob
	size int
}

// Add puts a value at the end of the list.
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

// Value is the list, or a reference to it. It is called once.
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
	return refer(ref, s.head, s.size, mimeJSON), nil
}

// Discard forgets a list that has become no value.
func (s *Spool) Discard() {
	if s.blob != nil {
		s.blob.Discard()
	}
}
