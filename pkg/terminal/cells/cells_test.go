package cells

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCut(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "12345": "12345", "123456": "1234…", "日本": "日本", "日本語": "日本…", "a日本": "a日本", "a日本語": "a日…",
		"e\u0301e\u0301e\u0301e\u0301e\u0301": "e\u0301e\u0301e\u0301e\u0301e\u0301", "✅✅✅": "✅✅…", "🚀🚀": "🚀🚀",
	} {
		if got := Cut(in, 5); got != want || Width(got) > 5 {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for most, want := range map[int]string{-1: "", 0: "", 1: "…", 2: "a…"} {
		if got := Cut("abc", most); got != want {
			t.Errorf("%d columns: %q, want %q", most, got, want)
		}
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "äöü": 3, "日本": 4, "ｶﾅ": 2, "한글": 4, "e\u0301": 1, "✓✗↻–━…": 6, "⚡⌚": 4, "❤\ufe0f": 2, "👩\u200d👩": 4, "𝒜": 1, "�": 1,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q takes %d columns, not %d", text, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "\ta  b\r\nc\n": "a b c", "\x1b[2J": "�[2J", "a\u202eb": "a�b", "\xff": "�", "a\u0085b\x00": "a b�",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string][]string{
		"": {""}, "a": {"a"}, "\n\n  a \r\n\n\tb\x1b[0m\n": {"  a", "", "    b�[0m"}, "a\rb": {"a�b"},
	} {
		if got := Lines(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The output for any text is one line, has no control characters and fits.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		most := rapid.IntRange(-1, 40).Draw(t, "most")
		for _, line := range append(Lines(text), Clean(text)) {
			if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
				t.Fatalf("%q is shown as %q", text, line)
			}
			if cut := Cut(line, most); Width(cut) > max(0, most) || Width(line) <= most && cut != line {
				t.Fatalf("%q of %d columns is cut to %d as %q", line, Width(line), most, cut)
			}
		}
	})
}
