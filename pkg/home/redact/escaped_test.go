package redact

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// escapes are the forms that are also found inside base64.
var escapes = []string{"raw", "json", "json html", "json slash", "json twice", "query", "path"}

func TestAnEscapedSecretInsideBase64(t *testing.T) {
	const begin, after = `{"a":"`, `"}`
	for name, tt := range map[string]struct{ value, form string }{
		"jq":               {`pass"word\12345`, `pass\"word\\12345`},
		"jq, delete":       {"pass\x7fword", `pass\u007fword`},
		"tojson in JSON":   {`pass"word\12345`, `pass\\\"word\\\\12345`},
		"encoding/json":    {"<pass&word>\n", `\u003cpass\u0026word\u003e\n`},
		"Python":           {"p\u00e4ss\U0001F511w\"rd", `p\u00e4ss\ud83d\udd11w\"rd`},
		"PHP":              {"p\u00e4ss/w\"rd", `p\u00e4ss\/w\"rd`},
		"System.Text.Json": {"p\u00e4ss+w\\\"rd", `p\u00E4ss\u002Bw\\\u0022rd`},
		"form":             {`pass "word/'1'`, `pass+%22word%2F%271%27`},
		"component":        {`pass "word/'1'`, `pass%20%22word%2F'1'`},
		"quote of Python":  {`pass "word/'1'`, `pass%20%22word/%271%27`},
	} {
		r := New()
		r.Add("s", tt.value)
		for offset := range 3 {
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				before := strings.Repeat(" ", offset) + begin
				text := enc.EncodeToString([]byte(before + tt.form + after))
				got := r.Text(text)
				if head, tail, ok := strings.Cut(got, Mark); !ok || !onlyAround(text, head, tail, before, after) {
					t.Errorf("%s, offset %d: %q is shown as %q", name, offset, text, got)
				}
			}
		}
	}
}

// A secret in a JSON document in base64, at any offset and in either alphabet, leaves nothing that decodes to a part of it, in a
// text and in a stream.
func TestASecretOfAnEncodedDocumentIsNotLeft(t *testing.T) {
	encodings := []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}
	rapid.Check(t, func(t *rapid.T) {
		value := secretValue().Draw(t, "secret")
		form := forms[rapid.SampledFrom(escapes).Draw(t, "form")](value)
		around := rapid.StringOfN(rapid.SampledFrom([]rune(" []{},:1")), 0, 9, -1)
		before, after := around.Draw(t, "before")+`{"a":"`, `"}`+around.Draw(t, "after")
		enc := rapid.SampledFrom(encodings).Draw(t, "encoding")
		text := enc.EncodeToString([]byte(before + form + after))
		r := New()
		r.Add("s", value)
		var stream bytes.Buffer
		w := r.Writer(&stream)
		for chunk := range slices.Chunk([]byte(text), rapid.IntRange(1, len(text)).Draw(t, "chunk")) {
			if _, err := w.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, got := range []string{r.Text(text), stream.String()} {
			head, tail, ok := strings.Cut(got, Mark)
			if !ok || !onlyAround(text, head, tail, before, after) {
				t.Errorf("%q of %q: got %q", text, form, got)
			}
		}
		// The same text as a JSON encoder or a URL shows it.
		for outer, undo := range map[string]func(string) (string, error){
			"json slash": func(s string) (string, error) {
				return strings.ReplaceAll(strings.TrimSuffix(s, `\`), `\/`, "/"), nil
			},
			"query": func(s string) (string, error) { return url.QueryUnescape(strings.TrimSuffix(s, "%2")) },
		} {
			got := r.Text(forms[outer](text))
			head, tail, ok := strings.Cut(got, Mark)
			head, err1 := undo(head)
			tail, err2 := undo(tail)
			if !ok || err1 != nil || err2 != nil || !onlyAround(text, head, tail, before, after) {
				t.Errorf("%q of %q, %s: got %q", text, form, outer, got)
			}
		}
	})
}

// onlyAround reports whether the beginning and the end of base64 text, which a mark divides, have no bit of what was between before
// and after.
func onlyAround(text, head, tail, before, after string) bool {
	padding := len(text) - len(strings.TrimRight(text, "="))
	bits := (len(text)-padding)*6 - (len(text)-padding)*6%8
	first := len(head) * 6                                                      // the first bit that is replaced
	next := max(first, (len(text)-padding-len(strings.TrimRight(tail, "=")))*6) // the first that is shown again
	return strings.HasPrefix(text, head) && strings.HasSuffix(text, tail) && first <= len(before)*8 && bits-next <= len(after)*8
}

func TestOtherSecretsHaveNoFurtherPatterns(t *testing.T) {
	for value, want := range map[string]int{"hunter22-AB_c.~": 4, "hunter": 4} {
		if got := len(patternsOf(secret{"s", value})); got != want {
			t.Errorf("%d patterns of %s, want %d", got, value, want)
		}
	}
}
