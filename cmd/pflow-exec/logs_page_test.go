package main

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// TestTheEndOfALogFits: whatever is logged, the page has the last line or its end, and fits.
func TestTheEndOfALogFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(200, 5000).Draw(t, "most")
		line := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 1, 200), rapid.Map(rapid.StringN(1, 9000, -1), func(s string) []byte { return []byte(s) }))
		p := &logPage{Logs: []logged{}}
		lines := rapid.SliceOfN(line, 1, 50).Draw(t, "lines")
		for _, text := range lines {
			if err := p.add("node", "stdout", text, most); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := rawjson.Marshal(p.Logs)
		if err != nil || len(raw) > most+len("[]") || len(p.Logs) == 0 || len(p.Logs)+p.Omitted != len(lines) {
			t.Fatalf("%v: %d bytes, %d lines, %d omitted", err, len(raw), len(p.Logs), p.Omitted)
		}
		if last := lines[len(lines)-1]; utf8.Valid(last) && p.Logs[len(p.Logs)-1].Text[0] != '"' {
			t.Fatalf("the text %q is not text any more: %s", last, p.Logs[len(p.Logs)-1].Text)
		}
	})
}
