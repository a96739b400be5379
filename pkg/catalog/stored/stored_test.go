package stored

import (
	"math"
	"testing"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	w := New("head 1")
	numbers := []uint64{0, 1, 127, 128, math.MaxInt64, math.MaxUint64}
	texts := []string{"", "a", "\x00\xff", string(make([]byte, 1000))}
	for _, n := range numbers {
		w.Number(n)
	}
	for _, s := range texts {
		w.Text(s)
		w.Bytes([]byte(s))
	}
	data := w.Seal()
	r := Open(data, "head 1")
	if r == nil {
		t.Fatal("it is not read")
	}
	for _, want := range numbers {
		if n := r.Number(); n != want {
			t.Errorf("%d, want %d", n, want)
		}
	}
	for _, want := range texts {
		if s, b := r.Text(), r.Bytes(); s != want || string(b) != want {
			t.Errorf("%q and %q, want %q", s, b, want)
		}
	}
	if r.More() || !r.OK() {
		t.Error("there is more")
	}
	if r.Number() != 0 || r.Text() != "" || r.OK() {
		t.Error("there is something behind the end")
	}
	if Open(data, "head 2") != nil || Open(data[1:], "head 1") != nil || Open(nil, "") != nil {
		t.Error("another file is read")
	}
	for i := range data {
		data[i] ^= 1
		if Open(data, "head 1") != nil {
			t.Errorf("it is read with a wrong byte %d", i)
		}
		data[i] ^= 1
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\x01h\x05\x03abc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = Open(data, "h")
		r := Parse(data, "h")
		for steps := 0; r != nil && r.More(); steps++ {
			if steps > len(data) {
				t.Fatal("it does not end")
			}
			r.Number()
			if b := r.Bytes(); len(b) > len(data) {
				t.Fatal("too long")
			}
		}
	})
}
