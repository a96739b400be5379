package node

import (
	"github.com/pflow-suite/pflow/pkg/event"
)

// spoolLimit is the most bytes of an output that are held in memory before the whole of it is needed there.
const spoolLimit = 1 << 20

// spool holds what is written to it until it is needed as a whole, as JSON is: up to spoolLimit bytes in memory, more in a scratch
// file. Writes never fail: content returns their error.
type spool struct {
	task *Task
	// text is what was written, or nil if it is in the scratch file; size is its length.
	text    []byte
	scratch event.Scratch
	size    int
	err     error
}

func (s *spool) Write(p []byte) (int, error) {
	n := len(p)
	if s.err != nil {
		return n, nil
	}
	s.size += n
	if room := spoolLimit - len(s.text); s.scratch == nil && (n <= room || s.task.Scratch == nil) {
		s.text = append(s.text, p...)
		return n, nil
	}
	if s.scratch == nil {
		if s.scratch, s.err = s.task.Scratch(); s.err != nil {
			s.scratch = nil
			return n, nil
		}
		if _, s.err = s.scratch.Write(s.text); s.err != nil {
			return n, nil
		}
		s.text = nil
	}
	_, s.err = s.scratch.Write(p)
	return n, nil
}

// content returns what was written. It waits until no other node of the run has so long an output in memory.
func (s *spool) content() ([]byte, error) {
	if s.err != nil || s.scratch == nil {
		s.discard()
		return s.text, s.err
	}
	defer s.discard()
	if err := s.scratch.Close(); err != nil {
		return nil, err
	}
	s.task.large(s.size)
	return s.scratch.Content(s.size)
}

// discard removes the scratch file.
func (s *spool) discard() {
	if s.scratch != nil {
		s.scratch.Discard()
		s.scratch = nil
	}
}

// large waits, before size bytes are processed in memory, until no other node of the run does so with a long output.
func (t *Task) large(size int) {
	if size > spoolLimit && t.Large != nil {
		t.Large()
	}
}
