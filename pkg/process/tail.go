package process

import (
	"strings"
	"sync"
)

// Tail is a writer that keeps the last bytes written to it. It may be written and read at the same time.
type Tail struct {
	mu    sync.Mutex
	limit int
	buf   []byte
	cut   bool
}

// NewTail makes a tail of at most limit bytes.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write keeps the end of p and never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.limit; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(p), nil
}

// cutMark stands where something was left out. By it a part of a secret that was cut in two is known.
const cutMark = "…"

// String is what was kept, as valid UTF-8. Where something was cut off it begins with …, and goes on at a line's start when
// there is one.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.buf)
	if t.cut {
		if i := strings.IndexByte(s, '\n'); i >= 0 && i < len(s)-1 {
			s = s[i:]
		}
		s = cutMark + s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
