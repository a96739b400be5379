package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// TestLines checks that the lines do not depend on how the stream is split into writes, and end at one that is too long.
func TestLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const limit = 6
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n")), 0, 60, -1).Draw(t, "text")
		var got []string
		long := 0
		l := &lines{take: func(line []byte) { got = append(got, string(line)) }, long: func() { long++ }, limit: limit}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if written, err := l.Write([]byte(rest[:n])); written != n || err != nil {
				t.Fatal(written, err)
			}
			rest = rest[n:]
		}
		l.end()
		var want []string
		over := false
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			if over = len(line) > limit; over {
				break
			}
			want = append(want, line)
		}
		if text == "" {
			want = nil
		}
		if strings.Join(got, "|") != strings.Join(want, "|") || (long == 1) != over || len(l.part) > limit {
			t.Fatalf("%q: lines %q, want %q; over %d times", text, got, want, long)
		}
	})
}

// FuzzStream checks that every stream can be read, and that no count is negative.
func FuzzStream(f *testing.F) {
	recordings, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(recordings) == 0 {
		f.Fatal("there are no recordings", err)
	}
	for _, path := range recordings {
		recording, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(recording)
	}
	f.Add([]byte(`{"type":"result","usage":{"input_tokens":-9223372036854775808},"modelUsage":{"a":{"inputTokens":1e300}},"total_cost_usd":-1,"num_turns":-5}`))
	f.Add([]byte(`{"type":"result","usage":{"input_tokens":-9223372036854775808,"output_tokens":-1}}`))
	f.Add([]byte(`{"type":"turn.completed","usage":{"input_tokens":-5,"cached_input_tokens":9223372036854775807}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, b := range backends {
			j := &job{in: nodetype.Agent{MaxTurns: 5}, backend: b}
			s := &stream{job: j, stop: func(error) {}, lingers: time.NewTimer(time.Hour)}
			for line := range bytes.SplitSeq(text, []byte{'\n'}) {
				s.line(line)
			}
			j.add(&s.report)
			u := j.usage
			if min(u.InputTokens, u.OutputTokens, u.TotalTokens, u.CacheCreationTokens, u.CacheReadTokens, int64(j.turns)) < 0 || u.CostUSD != nil && *u.CostUSD < 0 {
				t.Errorf("%s: %+v after %d turns", name, u, j.turns)
			}
			if s.structured != nil && !json.Valid(s.structured) {
				t.Errorf("%s: %s", name, s.structured)
			}
		}
	})
}
