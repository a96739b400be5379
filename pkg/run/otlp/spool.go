package otlp

import (
	"encoding/binary"
	"io"
	"os"
	"sync"
)

// request is an encoded batch.
type request struct {
	body []byte
	// items is the number of spans, data points or log records.
	items int
}

const (
	// maxInMemory is the most bytes of a spool in memory.
	maxInMemory = 4 << 20
	// maxOnDisk is the most bytes of the file. It starts again when everything in it has been taken.
	maxOnDisk = 1 << 30
)

// spool is a queue of requests that takes them at once: those that do not fit into memory are in a file without a name.
type spool struct {
	// dir is the folder of the file.
	dir string

	mu     sync.Mutex
	memory []request
	bytes  int
	file   *os.File
	// read and write are offsets in the file: what is between them waits.
	read, write int64
	inFile      int
	closed      bool
	// changed has a value if there may be something to take, or the spool is closed.
	changed chan struct{}
}

func newSpool(dir string) *spool { return &spool{dir: dir, changed: make(chan struct{}, 1)} }

// put adds a request. It reports false if there is no room for it.
func (s *spool) put(r request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wake()
	if s.inFile == 0 && (s.bytes == 0 || s.bytes+len(r.body) <= maxInMemory) {
		s.memory, s.bytes = append(s.memory, r), s.bytes+len(r.body)
		return true
	}
	return s.putOnDisk(r)
}

// header is the length of what precedes a request in the file: its size, and its items.
const header = 16

func (s *spool) putOnDisk(r request) bool {
	if s.write+header+int64(len(r.body)) > maxOnDisk {
		return false
	}
	if s.file == nil {
		file, err := os.CreateTemp(s.dir, "pflow-otel-")
		if err != nil {
			return false
		}
		_ = os.Remove(file.Name()) // it lives as long as the process
		s.file = file
	}
	head := binary.BigEndian.AppendUint64(nil, uint64(len(r.body)))
	head = binary.BigEndian.AppendUint64(head, uint64(r.items)) //nolint:gosec // a count
	if _, err := s.file.WriteAt(append(head, r.body...), s.write); err != nil {
		return false
	}
	s.write += header + int64(len(r.body))
	s.inFile++
	return true
}

// take returns the oldest request. ok is false if the queue is empty.
func (s *spool) take() (r request, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.memory) > 0 {
		r = s.memory[0]
		s.memory[0] = request{}
		s.memory = s.memory[1:]
		s.bytes -= len(r.body)
		return r, true
	}
	if s.inFile == 0 {
		return request{}, false
	}
	head := make([]byte, header)
	if _, err := s.file.ReadAt(head, s.read); err != nil {
		return s.lose()
	}
	r.body = make([]byte, binary.BigEndian.Uint64(head))
	r.items = int(binary.BigEndian.Uint64(head[8:])) //nolint:gosec // a count
	if _, err := s.file.ReadAt(r.body, s.read+header); err != nil && err != io.EOF {
		return s.lose()
	}
	s.read += header + int64(len(r.body))
	if s.inFile--; s.inFile == 0 { // the file starts again
		s.read, s.write = 0, 0
		_ = s.file.Truncate(0)
	}
	return r, true
}

// lose gives up what is in a file that cannot be read.
func (s *spool) lose() (request, bool) {
	s.read, s.write, s.inFile = 0, 0, 0
	return request{}, false
}

// close says that no more requests come.
func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake()
}

// state reports whether requests wait, and whether more may come.
func (s *spool) state() (waiting, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.memory)+s.inFile > 0, s.closed
}

func (s *spool) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
