package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// lines are events of a stream, and lines that resemble them.
var lines = []string{
	`{"v":1,"seq":7,"event":"node_completed","run":"r1","time":"2026-01-01T10:00:00.123456789Z","node":"a/b","attempt":2,"action":"default","outputs":{"x":"\u00e9\"","y":[1,1.50]},"input_digest":"sha256:0","duration_ms":1.5}`,
	`{"v":1,"seq":8,"event":"node_reused","run":"r1","time":"2026-01-01T10:00:00Z","node":"a","outputs":{},"input_digest":"d","redacted":true,"from_run":"r0","cached":true}`,
	`{"v":1,"seq":9,"event":"item_completed","run":"r1","time":"2026-01-01T10:00:00Z","node":"a","item":0,"outputs":{"$blob":"sha256:1","bytes":3,"mime":"m"}}`,
	`{"v":1,"seq":9,"event":"iteration_completed","run":"r1","time":"2026-01-01T10:00:00Z","node":"a","iteration":3}`,
	`{"v":1,"seq":10,"event":"node_failed","run":"r1","time":"2026-01-01T10:00:00Z","node":"a","error":{"type":"timeout","message":"late"},"will_retry":false,"handled":true,"warnings":["w"]}`,
	`{"v":1,"seq":11,"event":"node_failed","run":"r1","time":"2026-01-01T10:00:00Z","node":"a","item":4,"will_retry":true}`,
	`{"v":1,"seq":12,"event":"node_unheard_of","run":"r1","time":"2026-01-01T10:00:00Z","new":{"field":1}}`,
	`{"v":1,"seq":1,"event":"run_started","run":"r1","time":"2026-01-01T10:00:00Z","workflow":{"name":"w","digest":"d"},"nodes":["a"]}`,
	`{"v":1,"seq":1.5,"event":"node_completed","run":"r1","time":"2026-01-01T10:00:00Z"}`,
	`{"v":1,"seq":1,"event":"node_completed","run":1,"time":"2026-01-01T10:00:00Z"}`,
	`{"v":1,"seq":1,"event":"node_completed","run":"r1","time":"yesterday"}`,
	`{"v":1,"seq":1,"event":"node_completed","run":"r1","time":"2026-01-01T10:00:00Z","node":"\ud83d\ude00"}`,
}

// An event that is skimmed and then read equals one that encoding/json has parsed.
func TestAnEventIsTheSameHoweverItIsRead(t *testing.T) {
	for _, line := range lines {
		stream := []byte(lines[0] + "\n" + line + "\n" + lines[0] + "\n")
		r := NewReader(bytes.NewReader(stream))
		if _, err := r.Skim(); err != nil {
			t.Fatal(err)
		}
		var want Event
		bad := json.Unmarshal([]byte(line), &want)
		m, err := r.Skim()
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Read(bytes.NewReader(stream))
		if (err != nil) != (bad != nil) {
			t.Errorf("%s: %v, encoding/json %v", line, err, bad)
			continue
		}
		if bad != nil {
			continue
		}
		if d := cmp.Diff(&want, got); d != "" {
			t.Errorf("%s (-encoding/json +Read):\n%s", line, d)
		}
		item := -1
		if want.Item != nil {
			item = *want.Item
		}
		if m.Event != want.Event || m.Node != want.Node || m.Item != item || m.Iteration != want.Iteration || m.InputDigest != want.InputDigest || m.Settles() != want.Settles() {
			t.Errorf("%s: %+v", line, m)
		}
	}
}

// Skimming ends at the same torn or broken line as reading, with the same error.
func TestSkimmingEndsWhereReadingDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := strings.Join(lines[:8], "\n") + "\n"
		stream := whole[:rapid.IntRange(0, len(whole)).Draw(t, "length")] + rapid.SampledFrom([]string{"", "\n", "{}\n", "x\n" + lines[0] + "\n", `{"v":2,"event":"e"}` + "\n" + lines[0] + "\n"}).Draw(t, "more")
		skims, reads := NewReader(strings.NewReader(stream)), NewReader(strings.NewReader(stream))
		for {
			_, skimmed := skims.Skim()
			_, _, read := reads.Next()
			if (skimmed == nil) != (read == nil) || skimmed != nil && skimmed.Error() != read.Error() {
				t.Fatalf("%q: %v, not %v", stream, skimmed, read)
			}
			if read != nil {
				if errors.Is(read, io.EOF) != errors.Is(skimmed, io.EOF) {
					t.Fatal(skimmed)
				}
				return
			}
		}
	})
}
