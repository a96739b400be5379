package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// asItIs is a Redacting that removes nothing.
func asItIs(w io.Writer) event.Redacting { return unredacted{w} }

type unredacted struct {
	to io.Writer
}

func (u unredacted) Write(p []byte) (int, error) { return u.to.Write(p) }
func (unredacted) Close() error                  { return nil }
func (unredacted) Redacted() bool                { return false }

// keptBlobs holds blobs in memory.
type keptBlobs struct{ kept [][]byte }

func (b *keptBlobs) new() (event.Blob, error) { return &keptBlob{store: b}, nil }

type keptBlob struct {
	bytes.Buffer
	store *keptBlobs
}

func (b *keptBlob) Keep() (string, error) {
	b.store.kept = append(b.store.kept, b.Bytes())
	return event.Digest(b.Bytes()), nil
}

func (b *keptBlob) Discard() {}

func (b *keptBlob) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(b.Bytes()).ReadAt(p, at)
}

// escaped returns a JSON string in ASCII, as Python writes it.
func escaped(text string) []byte {
	out := []byte{'"'}
	for _, r := range text {
		switch {
		case r > 0xFFFF:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04X`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return append(out, '"')
}

func TestLongTextsOfAProgramBecomeBlobs(t *testing.T) {
	t.Parallel()
	on := task(t)
	store := &keptBlobs{}
	on.Capture = func() Output {
		return &event.Capture{New: store.new, Redact: asItIs}
	}
	r := performProgram(t, on, ownProgram(t, `#!/bin/sh
printf '{"$action":"next","short":"a","long":"'
yes 'line \u00e9\ud83d\ude00 \\ "' | head -n 20000 | sed 's/"/\\"/g' | tr '\n' ' '
printf '"}'
`), `{}`)
	if r.Fault != nil || r.Action != "next" || len(r.Outputs) > 1000 {
		t.Fatalf("%s %d bytes, %v", r.Action, len(r.Outputs), r.Fault)
	}
	want := strings.Repeat("line é😀 \\ \" ", 20000)
	if len(store.kept) != 1 || string(store.kept[0]) != want {
		t.Errorf("%d keptBlobs", len(store.kept))
	}
	if ref, ok := event.ReferenceOf(json.RawMessage(gjson.GetBytes(r.Outputs, "long").Raw)); !ok || ref.Bytes != len(want) || gjson.GetBytes(r.Outputs, "short").Str != "a" {
		t.Errorf("%s", r.Outputs)
	}
}

// The decoded pieces of a JSON string are its text, wherever it is cut.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\\\"\n\x01é😀aud")))).Draw(t, "text")
		ascii := rapid.Bool().Draw(t, "ascii")
		raw, _ := json.Marshal(text)
		if ascii {
			raw = escaped(text)
		}
		var want string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		inside := raw[1 : len(raw)-1]
		cut := rapid.IntRange(1, 20).Draw(t, "cut")
		var got strings.Builder
		for len(inside) > 0 {
			n := cutPoint(inside, cut)
			got.WriteString(gjson.Parse(`"` + string(inside[:n]) + `"`).Str)
			inside = inside[n:]
		}
		if got.String() != want {
			t.Fatalf("%q cut at %d is %q, not %q", raw, cut, got.String(), want)
		}
	})
}

// The result does not depend on the pieces in which the output of a program arrives.
func TestAnswerIsTheSameHoweverItComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{
			"{\"progress\":{\"done\":1}}\n", "{\"a\":1}\n", "\n", "  ", "{\"progress\":{\"done\":2}}", "{\"progress\":1}\n", strings.Repeat("x", maxProgressLine) + "\n", "y",
		})).Draw(t, "lines")
		text := strings.Join(lines, "")
		read := func(pieces func(rest string) int) (string, int) {
			reported := 0
			a := &programStdout{progress: func(float64, float64, string) { reported++ }, object: spool{task: &Task{}}}
			for rest := text; rest != ""; {
				n := pieces(rest)
				_, _ = a.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			got, err := a.text()
			if err != nil {
				t.Fatal(err)
			}
			return string(got), reported
		}
		whole, reported := read(func(rest string) int { return len(rest) })
		again, reportedAgain := read(func(rest string) int { return rapid.IntRange(1, len(rest)).Draw(t, "piece") })
		if whole != again || reported != reportedAgain {
			t.Fatalf("%d and %d times progress; %q and %q", reported, reportedAgain, fault.Truncate(whole, 200), fault.Truncate(again, 200))
		}
	})
}

// Of an output that is not an object only the beginning is held, and its quote shows that it was cut.
func TestGarbageIsNotHeld(t *testing.T) {
	scratches := 0
	on := &Task{Scratch: func() (event.Scratch, error) {
		scratches++
		return &memoryScratch{room: 1 << 30, discarded: new(int)}, nil
	}}
	for _, piece := range []string{"x", "é\n", "[1] ", strings.Repeat("y", maxProgressLine+1), " x"} {
		a := &programStdout{object: spool{task: on}}
		for written := 0; written < 3*spoolLimit; written += len(piece) {
			_, _ = a.Write([]byte(piece))
		}
		text, err := a.text()
		if err != nil || len(text) <= maxTail || len(text) > maxGarbage || scratches != 0 {
			t.Errorf("%.5q: %d bytes, %d scratch files, %v", piece, len(text), scratches, err)
		}
		if quote := shortenBytes(text, maxTail); !strings.HasSuffix(quote, "…") || strings.Contains(quote, "\uFFFD") {
			t.Errorf("%.5q: the quote ends with %q", piece, quote[len(quote)-10:])
		}
	}
}
