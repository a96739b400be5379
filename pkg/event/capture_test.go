package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// store holds the blobs of a test by their references.
type store struct {
	blobs  map[string][]byte
	open   int
	full   bool
	secret string
}

var errFull = errors.New("full")

func newStore() *store { return &store{blobs: map[string][]byte{}} }

func (s *store) load(ref string) ([]byte, error) {
	b, ok := s.blobs[ref]
	if !ok {
		return nil, errors.New("missing")
	}
	return b, nil
}

func (s *store) new() (Blob, error) {
	s.open++
	return &stored{store: s}, nil
}

type stored struct {
	store *store
	bytes.Buffer
}

func (b *stored) Write(p []byte) (int, error) {
	if b.store.full {
		return 0, errFull
	}
	return b.Buffer.Write(p)
}

func (b *stored) Keep() (string, error) {
	b.store.open--
	ref := Digest(b.Bytes())
	b.store.blobs[ref] = b.Bytes()
	return ref, nil
}

func (b *stored) Discard() { b.store.open-- }

func (b *stored) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(b.Bytes()).ReadAt(p, at)
}

// private is a private value, which has its content in the reference.
type private struct{ stored }

func (s *store) newPrivate() (Private, error) {
	s.open++
	return &private{stored{store: s}}, nil
}

func (p *private) Keep(size int, public Reference) (json.RawMessage, error) {
	p.store.open--
	return String(append(p.Bytes()[:size:size], " public "+public.Blob...)), nil
}

// clean replaces one secret by a mark. It holds back the last bytes of each write.
type clean struct {
	to     io.Writer
	secret string
	held   []byte
	found  bool
}

func (s *store) redact(w io.Writer) Redacting { return &clean{to: w, secret: s.secret} }

func (c *clean) Write(p []byte) (int, error) {
	c.held = append(c.held, p...)
	if c.secret != "" && bytes.Contains(c.held, []byte(c.secret)) {
		c.found = true
		c.held = bytes.ReplaceAll(c.held, []byte(c.secret), []byte("MARK"))
	}
	n := max(0, len(c.held)-max(0, len(c.secret)-1))
	_, err := c.to.Write(c.held[:n])
	c.held = bytes.Clone(c.held[n:])
	return len(p), err
}

func (c *clean) Close() error {
	_, err := c.to.Write(c.held)
	return err
}
func (c *clean) Redacted() bool { return c.found }

// Output in any pieces has the same value and the same blob as output that is held in memory.
func TestACaptureIsTheValueOfWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"x", "é", "日本", "𝄞", "\n", "a\r\n", "\xff", "\xe6\x97", "\x00", "\"\\"}).Draw(t, "unit")
		whole := rapid.StringMatching(`[a-zé𝄞]{0,5}`).Draw(t, "before") + strings.Repeat(unit, rapid.SampledFrom([]int{0, 1, 100, InlineLimit / len(unit), InlineLimit/len(unit) + 1, 3 << 19}).Draw(t, "times")) +
			rapid.SampledFrom([]string{"", "\n", "\r\n\n", "z\n", "\xff"}).Draw(t, "behind")
		strip := rapid.Bool().Draw(t, "strip")
		s, memory := newStore(), newStore()
		c := &Capture{New: s.new, Redact: s.redact}
		for rest := whole; rest != ""; {
			k := min(len(rest), rapid.SampledFrom([]int{1, 2, 3, 5000, 1 << 16, 1 << 20}).Draw(t, "piece"))
			if len(rest) > 1<<12 && k < 10 {
				_, _ = io.WriteString(c, rest[:k])
				rest, k = rest[k:], 1<<16
				k = min(k, len(rest))
			}
			if n, err := io.WriteString(c, rest[:k]); n != k || err != nil {
				t.Fatal(n, err)
			}
			rest = rest[k:]
		}
		end := c.Tail(10)
		got, err := c.Value(strip)
		if err != nil || s.open != 0 || c.Binary() == utf8.ValidString(whole) || string(end) != whole[max(0, len(whole)-10):] {
			t.Fatalf("%v, %d open, binary %v, the end %q", err, s.open, c.Binary(), end)
		}
		kept := whole
		if strip && utf8.ValidString(whole) {
			kept = strings.TrimRight(whole, "\r\n")
		}
		want, err := Spill(String([]byte(kept)), func(content []byte) (string, error) {
			ref := Digest(content)
			memory.blobs[ref] = content
			return ref, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(kept) <= InlineLimit { // what is short as bytes may be long as JSON: then it is spilled later
			got, err = Spill(got, func(content []byte) (string, error) { return Digest(content), nil })
		}
		if err != nil || string(got) != string(want) {
			t.Fatalf("%.300s\n%.300s\n%v", got, want, err)
		}
	})
}

// From its first secret on, output goes to a private value too. In any pieces that has all of the output, and the blob has none of
// the secret.
func TestACaptureWithASecretIsPrivate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStore()
		s.secret = "hushhush"
		part := rapid.StringMatching(`[x-z\n]{0,4}`)
		before, between, after := part.Draw(t, "before"), part.Draw(t, "between"), part.Draw(t, "after")
		times := rapid.SampledFrom([]int{1, 100, InlineLimit, 3 * InlineLimit})
		text := strings.Repeat(before, times.Draw(t, "times before")) + s.secret + strings.Repeat(between, times.Draw(t, "times between")) + s.secret + strings.Repeat(after, times.Draw(t, "times after"))
		strip := rapid.Bool().Draw(t, "strip")
		c := &Capture{New: s.new, Redact: s.redact, NewPrivate: s.newPrivate}
		for rest := text; rest != ""; {
			k := min(len(rest), rapid.SampledFrom([]int{3, 5000, 1 << 16, 1 << 20}).Draw(t, "piece"))
			if k == 3 {
				_, _ = io.WriteString(c, rest[:k])
				rest, k = rest[k:], 1<<16
				k = min(k, len(rest))
			}
			_, _ = io.WriteString(c, rest[:k])
			rest = rest[k:]
		}
		want := text
		if strip {
			want = strings.TrimRight(text, "\r\n")
		}
		got, err := c.Value(strip)
		if err != nil || s.open != 0 {
			t.Fatal(err, s.open)
		}
		private := want + " public " + Digest([]byte(strings.ReplaceAll(want, s.secret, "MARK")))
		if string(got) != string(String([]byte(private))) && (len(want) > InlineLimit || string(got) != string(String([]byte(want)))) {
			t.Fatalf("%d bytes: %.100s, want %d: %.100s", len(got), got, len(want), want)
		}
	})
}

func TestACaptureThatCannotBeKeptSaysSo(t *testing.T) {
	s := newStore()
	s.full = true
	c := &Capture{New: s.new, Redact: s.redact}
	for range 3 {
		if _, err := c.Write(make([]byte, InlineLimit)); err != nil {
			t.Error("a write fails:", err)
		}
	}
	if _, err := c.Value(false); !errors.Is(err, errFull) || s.open != 0 {
		t.Errorf("%v, %d open", err, s.open)
	}
}

func TestASpoolIsAListOfAnyLength(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, 100_000} {
		s := newStore()
		spool, memory := Spool{New: s.new}, Spool{}
		for range n {
			for _, to := range []*Spool{&spool, &memory} {
				if err := to.Add([]byte(`{"a":1}`)); err != nil {
					t.Fatal(err)
				}
			}
		}
		value, err := spool.Value()
		spool.Discard()
		want, failed := memory.Value()
		if err != nil || failed != nil || s.open != 0 {
			t.Fatal(err, failed, s.open)
		}
		if plain, err := Plain(value, s.load); err != nil || string(plain) != string(want) || len(value) > InlineLimit+100 {
			t.Errorf("%d values: %.100s, not %.100s: %v", n, plain, want, err)
		}
	}
}

func TestPartFetchesNoMoreThanTheMember(t *testing.T) {
	s := newStore()
	s.blobs["sha256:1"], s.blobs["sha256:2"] = []byte("text"), []byte(`{"c":{"$blob":"sha256:1","bytes":4,"mime":"text/plain; charset=utf-8"},"d":1}`)
	text := `{"$blob":"sha256:1","bytes":4,"mime":"text/plain; charset=utf-8"}`
	missing := `{"$blob":"sha256:0","bytes":4,"mime":"text/plain; charset=utf-8"}`
	for in, want := range map[string]string{
		`{"a":` + text + `,"b":` + missing + `,"n":1}`:              `{"a":"text","b":null,"n":1}`,
		`{"b":` + missing + `,"a":{"x":[` + text + `]}}`:            `{"b":null,"a":{"x":["text"]}}`,
		`{"$blob":"sha256:2","bytes":77,"mime":"application/json"}`: `{"c":null,"d":1}`,
		`{"$base64":"AAAA"}`:   `"AAAA"`,
		`{"$$a":1,"$$blob":2}`: `{"$a":1,"$blob":2}`,
		`{"a":{"$blob":"sha256:1","bytes":5,"mime":"text/plain; charset=utf-8"}}`: "",
	} {
		got, err := Part([]byte(in), "a", s.load)
		if (err != nil) != (want == "") || err == nil && string(got) != want {
			t.Errorf("%s: %s, want %s: %v", in, got, want, err)
		}
	}
}
