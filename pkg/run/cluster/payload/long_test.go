//go:build !race

package payload

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestDataIsReadAsItWasPacked(t *testing.T) {
	random := make([]byte, 3*Limit)
	_, _ = rand.Read(random)
	for name, c := range map[string]*Codec{"plain": nil, "encrypted": codec(t, key)} {
		for _, data := range [][]byte{nil, []byte("short"), bytes.Repeat([]byte("x"), 10*Limit), random} {
			s := &Store{Dir: t.TempDir(), Codec: c}
			p, err := s.Pack("a", data)
			if err != nil {
				t.Fatal(err)
			}
			if long := bytes.Equal(data, random); long != (p.File != "") {
				t.Errorf("%s: %d bytes are in the file %q", name, len(data), p.File)
			}
			if got, err := s.Unpack(p, int64(len(data))); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: %d bytes became %d, %v", name, len(data), len(got), err)
			}
			if len(data) > 0 {
				if _, err := s.Unpack(p, int64(len(data))-1); fault.From(err).Type != fault.TooLarge {
					t.Errorf("%s: beyond the limit: %v", name, err)
				}
			}
		}
	}
}

func TestLongDataNeedsAFolder(t *testing.T) {
	random := make([]byte, 2*Limit)
	_, _ = rand.Read(random)
	if _, err := (&Store{}).Pack("a", random); fault.From(err).Type != fault.TooLarge {
		t.Errorf("without a folder: %v", err)
	}
	s := &Store{Dir: t.TempDir()}
	p, err := s.Pack("a", random)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Store{}).Open(p); fault.From(err).Type != fault.Usage {
		t.Errorf("read without a folder: %v", err)
	}
	for _, name := range []string{"../a", "/etc/passwd", ".hidden"} {
		if _, err := s.Open(Packed{File: name, Bytes: 1}); fault.From(err).Type != fault.Protocol {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Open(Packed{File: "absent", Bytes: 1}); fault.From(err).Type != fault.NotFound {
		t.Errorf("an absent file: %v", err)
	}
}

func TestATapeIsReadUpToWhereItWasPacked(t *testing.T) {
	s := &Store{Dir: t.TempDir(), Codec: codec(t, key)}
	tape := s.NewTape("run")
	defer tape.Close()
	var whole []byte
	piece := make([]byte, Limit/3)
	var packed []Packed
	var sizes []int
	for range 8 {
		_, _ = rand.Read(piece)
		whole = append(whole, piece...)
		if err := tape.Append(piece); err != nil {
			t.Fatal(err)
		}
		packed, sizes = append(packed, tape.Packed()), append(sizes, len(whole))
	}
	for i, p := range packed {
		r, err := s.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, whole[:sizes[i]]) {
			t.Errorf("state %d has %d bytes, want %d: %v", i, len(got), sizes[i], err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(s.Dir, "run-*"))
	if len(files) != 1 {
		t.Errorf("the files are %v", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	other := &Store{Dir: s.Dir, Codec: codec(t, strings.Repeat("aa", 32))}
	if _, err := other.Unpack(packed[7], 1<<30); fault.From(err).Type != fault.Usage {
		t.Errorf("with another key: %v", err)
	}
}
