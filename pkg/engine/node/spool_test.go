package node

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
)

// memoryScratch is a scratch in memory that has room for some bytes.
type memoryScratch struct {
	bytes.Buffer
	room      int
	closed    bool
	discarded *int
}

func (s *memoryScratch) Write(p []byte) (int, error) {
	if s.room -= len(p); s.room < 0 {
		return 0, errors.New("full")
	}
	return s.Buffer.Write(p)
}
func (s *memoryScratch) Close() error                     { s.closed = true; return nil }
func (s *memoryScratch) Discard()                         { *s.discarded++ }
func (s *memoryScratch) Content(size int) ([]byte, error) { return s.Bytes()[:size], nil }
func (s *memoryScratch) Open(size int) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s.Bytes()[:size])), nil
}

func TestSpool(t *testing.T) {
	for name, c := range map[string]struct {
		size, piece, room         int
		scratches, turns          int
		fails, noScratch, missing bool
	}{
		"empty":            {size: 0, piece: 1},
		"short":            {size: spoolLimit, piece: 1000},
		"long":             {size: 3*spoolLimit + 5, piece: 1000, room: 1 << 30, scratches: 1, turns: 1},
		"in one piece":     {size: spoolLimit + 1, piece: spoolLimit + 1, room: 1 << 30, scratches: 1, turns: 1},
		"without scratch":  {size: 2 * spoolLimit, piece: 1000, noScratch: true},
		"full":             {size: 2 * spoolLimit, piece: 1000, room: 5000, scratches: 1, fails: true},
		"cannot be opened": {size: 2 * spoolLimit, piece: 1000, fails: true, missing: true},
	} {
		made, discarded, turns := 0, 0, 0
		on := &Task{Large: func() { turns++ }}
		if !c.noScratch {
			on.Scratch = func() (event.Scratch, error) {
				if c.missing {
					return nil, errors.New("full")
				}
				made++
				return &memoryScratch{room: c.room, discarded: &discarded}, nil
			}
		}
		s := &spool{task: on}
		text := strings.Repeat("0123456789abcdef", c.size/16+1)[:c.size]
		for rest := text; rest != ""; {
			k := min(c.piece, len(rest))
			if n, err := s.Write([]byte(rest[:k])); n != k || err != nil {
				t.Fatal(n, err)
			}
			rest = rest[k:]
		}
		got, err := s.content()
		if (err != nil) != c.fails || err == nil && string(got) != text {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), c.size, err)
		}
		if made != c.scratches || discarded != c.scratches || turns != c.turns {
			t.Errorf("%s: %d scratches, %d discarded, %d turns", name, made, discarded, turns)
		}
	}
}
