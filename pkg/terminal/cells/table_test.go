package cells

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTable(t *testing.T) {
	for most, want := range map[int]string{
		0:  "ab    ok   first\n日本  bad  a description that is long\nc\n",
		18: "ab    ok   first\n日本  bad  a desc…\nc\n",
		5:  "ab  …\n日本…\nc\n",
	} {
		var table Table
		table.Row("ab", "ok", "first")
		table.Row("日本", "bad", "a description\n\tthat is long")
		table.Row("c", "", "")
		var got strings.Builder
		if err := table.Write(&got, most); err != nil || got.String() != want {
			t.Errorf("%d columns: %v\n%s\nnot\n%s", most, err, got.String(), want)
		}
	}
}

func TestWriteWhole(t *testing.T) {
	for most, want := range map[int]string{
		0:  "日本  some words of a description that goes on\nb\n",
		30: "日本  some words of a\n      description that goes on\nb\n",
		10: "日本  some words of a description that goes on\nb\n", // too narrow
	} {
		var table Table
		table.Row("日本", "some words of a description that goes on")
		table.Row("b", "")
		var got strings.Builder
		if err := table.WriteWhole(&got, most); err != nil || got.String() != want {
			t.Errorf("%d columns: %v\n%s\nnot\n%s", most, err, got.String(), want)
		}
	}
}

func TestAround(t *testing.T) {
	for _, c := range []struct {
		text         string
		column, most int
		want         string
		at           int
	}{
		{"abcdef", 2, 6, "abcdef", 2},
		{"abcdefgh", 1, 6, "abcde…", 1},
		{"abcdefgh", 7, 6, "…defgh", 5},
		{"abcdefghijkl", 6, 6, "…efgh…", 3},
		{"日本語日本語X日本語", 12, 9, "…語X日本…", 3},
		{"abcdefgh", 8, 6, "…defgh", 6}, // after the last character
	} {
		part, at := Around(c.text, c.column, c.most)
		if part != c.want || at != c.at {
			t.Errorf("%q, column %d of %d: %q at %d, want %q at %d", c.text, c.column, c.most, part, at, c.want, c.at)
		}
	}
}

// Whatever the text is, the part fits and the character at the column is that of the text.
func TestAroundKeepsThePlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringOf(rapid.SampledFrom([]rune("abe\u0301日"))).Draw(t, "before")
		text := before + "X" + rapid.StringOf(rapid.SampledFrom([]rune("cd\u0301本"))).Draw(t, "after")
		most := rapid.IntRange(4, 40).Draw(t, "most")
		part, at := Around(text, Width(before), most)
		i := strings.Index(part, "X")
		if Width(part) > most || i < 0 || Width(part[:i]) != at {
			t.Fatalf("%q of %d columns: %q, at %d", text, most, part, at)
		}
	})
}
