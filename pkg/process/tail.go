package process

import (
	"strings"
	"sync"
)

// Tail is a writer that keeps the last bytes written to it. It is safe for concurrent use.
type Tail struct {
	mu    sync.Mutex
	limit int
	buf   []byte // up to twice the limit, so that it seldom moves
	cut   bool
}

// NewTail returns a Tail that keeps at most limit bytes.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write appends p to what is kept. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	t.cut = t.cut || len(t.buf) > t.limit
	if len(t.buf) > 2*t.limit {
		t.buf = append(t.buf[:0], t.last()...)
	}
	return len(p), nil
}

// last returns the last bytes, as many as the limit allows. The mu must be held.
func (t *Tail) last() []byte { return t.buf[max(0, len(t.buf)-t.limit):] }

// Cut reports whether something was dropped.
func (t *Tail) Cut() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cut
}

// cutMark replaces what was dropped. Redaction recognizes by it that a secret may have been cut in two.
const cutMark = "…"

// String returns what was kept, as valid UTF-8. If something was dropped, the text begins with … and continues with the
// first whole line, if there is one.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.last())
	if t.cut {
		if i := strings.IndexByte(s, '\n'); i >= 0 && i < len(s)-1 {
			s = s[i:]
		}
		s = cutMark + s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
