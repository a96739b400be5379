package search_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "--": "", "read-file": "read file", "mcp_a.b/c:d": "mcp a b c d", "getUserById": "get user by id",
		"HTTPServer": "http server", "parseURLs now": "parse urls now", "base64Encode": "base64 encode", "S3": "s3", "s3Bucket": "s3 bucket",
		"Crème BRÛLÉE": "creme brulee", "cafe\u0301s": "cafes", "naïve Größe": "naive große", "日本 語": "日本 語", "A": "a", "aB": "a b", "ID": "id",
	} {
		if got := strings.Join(search.Words(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestOrder(t *testing.T) {
	names, x := corpus(t)
	first := find(names, x, "create an issue on github")
	if !slices.Contains(first, "mcp-github-create-issue") || slices.Contains(first, "mcp-time-convert-time") {
		t.Errorf("%v", first)
	}
	// Documents with all words, and those whose name is one of them, come before those with some words; then the order is theirs.
	var b search.Builder
	list := []string{"a-copy", "b-copy", "copy", "rare", "z-copy"}
	for _, name := range list {
		b.Add(search.Document{Name: name, Description: map[string]string{"z-copy": "rare"}[name]})
	}
	if d := cmp.Diff([]string{"rare", "copy", "z-copy", "a-copy", "b-copy"}, find(list, b.Index(), "copy rare")); d != "" {
		t.Error(d)
	}
	if got := find(list, b.Index(), "copy"); !slices.Equal(got, []string{"copy", "a-copy", "b-copy", "z-copy"}) {
		t.Error(got)
	}
	for _, nothing := range []string{"", " - ", "qqqqqqq", "the of"} {
		if got := find(list, b.Index(), nothing); len(got) > 0 {
			t.Errorf("%q: %v", nothing, got)
		}
	}
}

// A match in the name comes before one in the description, and that before one in a parameter; a whole name before a part of one.
func TestWhereAWordStands(t *testing.T) {
	var b search.Builder
	list := []string{"param", "told", "named-zebra-long", "zebra"}
	b.Add(search.Document{Name: "param", Params: []string{"zebra"}})
	b.Add(search.Document{Name: "told", Description: "of zebras"})
	b.Add(search.Document{Name: "named-zebra-long"})
	b.Add(search.Document{Name: "zebra"})
	for _, query := range []string{"zebra", "zebras", "zebar"} {
		if got := find(list, b.Index(), query); !slices.Equal(got, []string{"zebra", "named-zebra-long", "told", "param"}) {
			t.Errorf("%s: %v", query, got)
		}
	}
}

func document(t *rapid.T) search.Document {
	word := rapid.SampledFrom(strings.Fields("read reads file the getUser Ünder a-b x issue issues"))
	text := rapid.Map(rapid.SliceOfN(word, 0, 5), func(w []string) string { return strings.Join(w, " ") })
	return search.Document{Name: text.Draw(t, "name"), Group: word.Draw(t, "group"), Description: text.Draw(t, "description"), Params: rapid.SliceOfN(word, 0, 3).Draw(t, "params")}
}

// An index that is read from its bytes is the one that was built.
func TestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b search.Builder
		for _, d := range rapid.SliceOfN(rapid.Custom(document), 0, 12).Draw(t, "documents") {
			b.Add(d)
		}
		built := b.Index()
		read, err := search.Parse(built.Bytes())
		if err != nil || !bytes.Equal(read.Bytes(), built.Bytes()) || read.Documents() != built.Documents() {
			t.Fatalf("%v\n%q\n%q", err, read.Bytes(), built.Bytes())
		}
		name := func(_, doc int) string { return fmt.Sprint(doc) }
		for _, query := range []string{"read file", "raed isue", "x"} {
			if d := cmp.Diff(search.Search(query, name, built), search.Search(query, name, read), cmp.AllowUnexported(search.Hit{})); d != "" {
				t.Errorf("%s: %s", query, d)
			}
		}
	})
}

// The same documents are found in several indexes as in one.
func TestIndexesAreSearchedAsOne(t *testing.T) {
	names, whole := corpus(t)
	_, other := corpus(t)
	for _, query := range []string{"read file", "creat issue", "zzz"} {
		one := find(names, whole, query)
		both := search.Search(query, func(_, doc int) string { return names[doc] }, whole, other)
		if len(both) != 2*len(one) {
			t.Errorf("%q: %d, and %d in two", query, len(one), len(both))
		}
	}
}

// Data that Parse accepts can be searched.
func FuzzParse(f *testing.F) {
	var b search.Builder
	b.Add(search.Document{Name: "read-file", Description: "Read a file"})
	b.Add(search.Document{Name: "write-file", Params: []string{"path"}})
	f.Add(b.Index().Bytes(), "raed file")
	f.Add([]byte{}, "")
	f.Add((&search.Builder{}).Index().Bytes(), "x")
	f.Fuzz(func(t *testing.T, data []byte, query string) {
		x, err := search.Parse(data)
		if err != nil {
			return
		}
		for _, h := range search.Search(query, func(int, int) string { return "" }, x) {
			if h.Document < 0 || int(h.Document) >= x.Documents() {
				t.Errorf("document %d of %d", h.Document, x.Documents())
			}
		}
	})
}

// Only the first words of a long query count, and the beginning of each.
func TestALongQueryIsBounded(t *testing.T) {
	names, x := corpus(t)
	found := find(names, x, "shell "+strings.Repeat("qqzz ", 31)+"github")
	if !slices.Contains(found, "shell") {
		t.Error(found)
	}
	var many []string
	for i := range 31 {
		many = append(many, fmt.Sprint("q", i))
	}
	if found := find(names, x, strings.Join(many, " ")+" echo"); !slices.Contains(found, "echo") {
		t.Error("the last word that counts does not")
	}
	if found := find(names, x, strings.Join(many, " ")+" q31 echo"); len(found) > 0 {
		t.Error("a word too many counts", found)
	}
	long := search.QueryWords(strings.Repeat("é", 1<<16) + " " + strings.Repeat("aB", 1<<16) + strings.Repeat(" a b", 1<<16))
	if len(long) != 32 || slices.ContainsFunc(long, func(w string) bool { return len(w) > 64 || !utf8.ValidString(w) }) {
		t.Errorf("%d %q", len(long), long)
	}
}

// Letter sets rule out no term that is within the permitted edits.
func TestMistypedWordsOfOtherLetters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-h0-9é]{6,11}[0-9]`).Draw(t, "word") // the digit keeps it from being stemmed
		letters := []rune(word)
		at := rapid.IntRange(1, len(letters)-2).Draw(t, "at")
		letters[at] = rapid.RuneFrom([]rune("abcxyz")).Draw(t, "letter")
		var b search.Builder
		b.Add(search.Document{Name: word})
		if len(search.Search(string(letters), func(int, int) string { return word }, b.Index())) != 1 {
			t.Errorf("%s does not find %s", string(letters), word)
		}
	})
}
