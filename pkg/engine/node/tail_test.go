package node

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTheTailHasTheLastLinesOfBothStreams(t *testing.T) {
	numbered := func(what string, n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("%s %d\n", what, i+1)
		}
		return text
	}
	for name, c := range map[string]struct {
		// writes go to standard output, or with ! to standard error.
		writes []string
		want   string
	}{
		"nothing":                    {nil, ""},
		"white space":                {[]string{"\n \n"}, ""},
		"one line":                   {[]string{"FAIL TestLogin\n"}, "FAIL TestLogin"},
		"a line without its end":     {[]string{"FAIL", " TestLogin"}, "FAIL TestLogin"},
		"both in the order of reads": {[]string{"one\n", "!two\n", "three\n"}, "one\ntwo\nthree"},
		"a line in pieces":           {[]string{"one ", "!two\n", "three\n"}, "two\none three"},
		"a progress bar":             {[]string{"10%\r20%\r100%\r\ndone\n"}, "100%\ndone"},
		"many lines":                 {[]string{numbered("line", 100)}, "…" + strings.TrimSpace(numbered("line", 100)[len(numbered("line", 80)):])},
		"few among many":             {[]string{"!why\n", numbered("line", 100)}, "…why\n" + strings.TrimSpace(numbered("line", 100)[len(numbered("line", 81)):])},
		"a long line":                {[]string{strings.Repeat("x", 9999) + "end\n"}, "…" + strings.Repeat("x", maxTail-3) + "end"},
		"what is no text":            {[]string{"a\xffb\n"}, "a\uFFFDb"},
	} {
		var last tail
		for _, text := range c.writes {
			w := last.stdout()
			if rest, ok := strings.CutPrefix(text, "!"); ok {
				w, text = last.stderr(), rest
			}
			_, _ = w.Write([]byte(text))
		}
		if got := last.text(false); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestTheTailIsShort holds for any writes that the tail has few lines and bytes, and ends with the last line.
func TestTheTailIsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var last tail
		for i := range rapid.IntRange(0, 200).Draw(t, "writes") {
			w := last.stdout()
			if rapid.Bool().Draw(t, "stderr") {
				w = last.stderr()
			}
			_, _ = fmt.Fprintf(w, "%s%d", strings.Repeat(rapid.SampledFrom([]string{"x", "\n", "é", "\r", " "}).Draw(t, "text"), rapid.SampledFrom([]int{0, 1, 50, 3000}).Draw(t, "length")), i)
		}
		_, _ = last.stderr().Write([]byte("\nthe end\n"))
		got := last.text(false)
		if lines := strings.Count(got, "\n") + 1; lines > maxTailLines || len(got) > maxTail+len("…") || !strings.Contains(got, "the end") {
			t.Errorf("got %d lines and %d bytes, want the end in at most %d and %d: %q", lines, len(got), maxTailLines, maxTail, got)
		}
	})
}
