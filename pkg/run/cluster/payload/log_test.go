package payload

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestALogIsReadUpToItsLastWholePiece(t *testing.T) {
	for name, c := range map[string]*Codec{"plain": nil, "encrypted": codec(t, key)} {
		s := &Store{Dir: t.TempDir(), Codec: c}
		tape := s.NewLog("run")
		if err := errors.Join(tape.Append([]byte("one\n")), tape.Append([]byte("two\n"))); err != nil {
			t.Fatal(err)
		}
		if p, err := s.Logged(tape.Log()); err != nil || !p.Empty() {
			t.Errorf("%s: before it is shown: %v, %v", name, p, err)
		}
		if err := tape.Show(); err != nil {
			t.Fatal(err)
		}
		tape.Close()
		path := filepath.Join(s.Dir, tape.Log())
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		first := 0
		for size := len(whole); size >= 0; size-- {
			// What a lost machine leaves: a shorter file, or one whose last bytes did not reach the disk.
			for _, left := range [][]byte{whole[:size], append(append([]byte{}, whole[:size]...), make([]byte, len(whole)-size)...)} {
				if err := os.WriteFile(path, left, 0o600); err != nil {
					t.Fatal(err)
				}
				p, err := s.Logged(tape.Log())
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if !p.Empty() {
					b, err := s.Unpack(p, 100)
					if err != nil {
						t.Fatalf("%s: %d of %d bytes: %v", name, size, len(whole), err)
					}
					got = string(b)
				}
				switch {
				case size == len(whole) && got != "one\ntwo\n", got != "" && got != "one\n" && got != "one\ntwo\n":
					t.Errorf("%s: %d of %d bytes give %q", name, size, len(whole), got)
				case got == "one\n":
					first++
				}
			}
		}
		if first == 0 {
			t.Errorf("%s: the first piece is never read alone", name)
		}
	}
}

func TestALogThatWasNotShownIsRemoved(t *testing.T) {
	s := &Store{Dir: t.TempDir()}
	tape := s.NewLog("run")
	if err := tape.Append([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	tape.Close()
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if p, err := s.Logged(tape.Log()); err != nil || !p.Empty() {
		t.Errorf("%v, %v", p, err)
	}
}
