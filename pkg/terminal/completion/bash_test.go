package completion

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBashLine(t *testing.T) {
	for _, c := range []struct {
		line, replaced  string
		words           string // joined with |
		current, before string
	}{
		{"p run ", "", "run", "", ""},
		{"p run he", "he", "run", "he", ""},
		{"p run a=b", "b", "run", "a=b", "a="},
		{"p run a=", "", "run", "a=", "a="},
		{"p run a=@f", "@f", "run", "a=@f", "a="},
		{"p run a:=1", "1", "run", "a:=1", "a:="},
		{"p run my\\ fi", "my\\ fi", "run", "my fi", ""},
		{"p run 'my fi", "my fi", "run", "my fi", ""},
		{`p run "a\"b\x`, `a\"b\x`, "run", `a"b\x`, ""},
		{"X=1 Y='a b' p run x", "x", "run", "x", ""},
		{"true; p show la", "la", "show", "la", ""},
		{"a | p show la", "la", "show", "la", ""},
		{"p run 2> log he", "he", "run", "he", ""},
		{"p run '' x", "x", "run|", "x", ""},
	} {
		l := bashLine(c.line, c.replaced)
		if got := strings.Join(l.Words, "|"); got != c.words || l.Current != c.current || l.bash.before != c.before {
			t.Errorf("%q: words %q, current %q, before %q", c.line, got, l.Current, l.bash.before)
		}
	}
	if l := bashLine("p run > lo", "lo"); !l.bash.redirected {
		t.Error("the file of a redirection is taken for an argument")
	}
	if l := bashLine("p run $HO", "$HO"); !l.bash.expanded {
		t.Error("a variable is taken for text")
	}
}

// TestBashReadsItsQuoting is that a quoted text is the text again, in each kind of quotes.
func TestBashReadsItsQuoting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab' \"\\$`;|&(){}<>*?~#!=:@-é")), 1, 12, -1).Draw(t, "text")
		quote := rapid.SampledFrom([]byte{0, '\'', '"'}).Draw(t, "quote")
		w := bashWord{quote: quote}
		open := strings.Trim(string(quote), "\x00")
		l := bashLine("p "+open+w.quoted(text)+open+" ", "")
		if !slices.Equal(l.Words, []string{text}) {
			t.Fatalf("%q in %q is %q, which is %q", text, open, w.quoted(text), l.Words)
		}
	})
}

func FuzzBashLine(f *testing.F) {
	f.Add("p run 'a", "a")
	f.Fuzz(func(t *testing.T, line, replaced string) { bashLine(line, replaced) })
}
