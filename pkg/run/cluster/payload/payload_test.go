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

	commonpb "go.temporal.io/api/common/v1"

	"github.com/pflow-suite/pflow/pkg/fault"
)

var key = strings.Repeat("0f", 32)

func codec(t *testing.T, key string) *Codec {
	t.Helper()
	c, err := ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseKeyTakesOnlyHexadecimalDigits(t *testing.T) {
	for _, text := range []string{"", "0f", strings.Repeat("0g", 32), key + "00"} {
		if _, err := ParseKey(text); fault.From(err).Type != fault.Usage || strings.Contains(err.Error(), "0f0f") {
			t.Errorf("%q: %v", text, err)
		}
	}
	codec(t, key+"\n")
}

func TestACodecHidesPayloadsAndTheirMetadata(t *testing.T) {
	c := codec(t, key)
	plain := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain"), "note": []byte("visible")}, Data: []byte(`"hunter22"`)}
	sealed, err := c.Encode([]*commonpb.Payload{plain, plain})
	if err != nil {
		t.Fatal(err)
	}
	if text := sealed[0].String(); strings.Contains(text, "hunter22") || strings.Contains(text, "visible") {
		t.Errorf("%s can be read", text)
	}
	if bytes.Equal(sealed[0].GetData(), sealed[1].GetData()) {
		t.Error("equal payloads look equal")
	}
	open, err := c.Decode([]*commonpb.Payload{sealed[0], plain})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range open {
		if string(p.GetData()) != `"hunter22"` || string(p.GetMetadata()["note"]) != "visible" {
			t.Errorf("payload %d became %s", i, p)
		}
	}
	if _, err := codec(t, strings.Repeat("aa", 32)).Decode(sealed); err == nil {
		t.Error("another key decrypts it")
	}
}

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
