package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// forms are the encodings of a value, by name.
var forms = map[string]func(string) string{
	"raw":         func(s string) string { return s },
	"json":        func(s string) string { return inner(rawjson.Quote(s)) },
	"json html":   func(s string) string { b, _ := json.Marshal(s); return inner(b) },
	"json ascii":  func(s string) string { return ascii(s, `\u%04x`) },
	"json upper":  func(s string) string { return ascii(s, `\u%04X`) },
	"json slash":  func(s string) string { return strings.ReplaceAll(inner(rawjson.Quote(s)), "/", `\/`) },
	"json twice":  func(s string) string { return inner(rawjson.Quote(inner(rawjson.Quote(s)))) },
	"json thrice": func(s string) string { return inner(rawjson.Quote(inner(rawjson.Quote(inner(rawjson.Quote(s)))))) },
	"query":       url.QueryEscape,
	"path":        url.PathEscape,
	"percent": func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, "%%%02x", s[i])
		}
		return b.String()
	},
	"url": func(s string) string { // as in a URL that was put together without escaping, and then printed
		before, after, ok := strings.Cut(s, "?")
		if ok {
			after = "?" + after
		}
		if u, err := url.Parse("http://h/" + before); err == nil {
			return strings.TrimPrefix(u.EscapedPath(), "/") + after
		}
		u := url.URL{Path: before}
		return strings.ReplaceAll(u.EscapedPath(), "%25", "%") + after
	},
	"base64":         func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 raw":     func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64 url":     func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"base64 raw url": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64 query":   func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"base64 lines":   func(s string) string { return wrap(base64.StdEncoding.EncodeToString([]byte(s)), "\n") },
	"base64 crlf":    func(s string) string { return wrap(base64.StdEncoding.EncodeToString([]byte(s)), "\r\n") },
	"base64 escaped": func(s string) string { return wrap(base64.StdEncoding.EncodeToString([]byte(s)), `\n`) },
}

func inner(quoted []byte) string { return string(quoted[1 : len(quoted)-1]) }

func ascii(s, format string) string {
	var b strings.Builder
	for _, r := range s {
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, format, u)
		}
	}
	return b.String()
}

func wrap(s, newline string) string {
	var lines []string
	for chunk := range slices.Chunk([]byte(s), 8) {
		lines = append(lines, string(chunk))
	}
	return strings.Join(lines, newline)
}

// letters are characters that the encodings treat differently.
const letters = `abcXYZ019-_.~/+= "'\%&<>n u?` + "\n\t\x01\u00e9\u20ac\U0001F511"

func secretValue() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.StringOfN(rapid.SampledFrom([]rune(letters)), 6, 30, -1).Draw(t, "value")
		return "k" + strings.Trim(s, " \t\n") + "Z" + rapid.StringMatching(`[a-z0-9]{6}`).Draw(t, "tail")
	})
}

// formOf draws a form by name, so that a failure shows it.
func formOf(t *rapid.T, value string) string {
	names := []string{}
	for name := range forms {
		names = append(names, name)
	}
	slices.Sort(names)
	return forms[rapid.SampledFrom(names).Draw(t, "form")](value)
}

func TestEveryFormIsFoundExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := secretValue().Draw(t, "secret")
		form := formOf(t, value)
		r := New()
		r.Add("s", value)
		if got, want := r.Text("« "+form+" »"), "« "+Mark+" »"; got != want {
			t.Errorf("%q of %q: got %q", form, value, got)
		}
	})
}

func TestNoFormIsLeftInRandomText(t *testing.T) {
	around := rapid.StringOfN(rapid.SampledFrom([]rune(letters)), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringOfN(rapid.SampledFrom([]rune(letters)), inside, 20, -1).Draw(t, "secret")
		form := formOf(t, value)
		r := New()
		r.Add("s", value)
		text := around.Draw(t, "before") + form + around.Draw(t, "after")
		if got := r.Text(text); strings.Contains(got, form) || !strings.Contains(got, Mark) {
			t.Errorf("%q of %q: got %q", form, value, got)
		}
		var out bytes.Buffer
		w := r.Writer(&out)
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); strings.Contains(got, form) || !strings.Contains(got, Mark) {
			t.Errorf("stream: %q of %q: got %q", form, value, got)
		}
	})
}

func TestInsideLongerBase64(t *testing.T) {
	encodings := []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}
	rapid.Check(t, func(t *rapid.T) {
		value := secretValue().Draw(t, "secret")
		before := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "before")
		after := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "after")
		enc := rapid.SampledFrom(encodings).Draw(t, "encoding")
		r := New()
		r.Add("s", value)
		text := enc.EncodeToString(slices.Concat(before, []byte(value), after))
		got := r.Text(text)
		head, tail, ok := strings.Cut(got, Mark)
		// No bit of the secret is left: only whole characters before and behind it stay.
		if !ok || len(head) > len(before)*8/6 || len(tail) > (len(after)*8+5)/6+2 || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Errorf("%q: got %q", text, got)
		}
	})
}

func TestOverlappingSecretsLeaveNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab]{20,40}`).Draw(t, "text")
		r := New()
		covered := make([]bool, len(text))
		for range rapid.IntRange(1, 4).Draw(t, "secrets") {
			from := rapid.IntRange(0, len(text)-inside).Draw(t, "from")
			v := text[from:min(len(text), from+rapid.IntRange(inside, 12).Draw(t, "length"))]
			r.Add("s", v)
			for i := range text {
				if strings.HasPrefix(text[i:], v) {
					for k := range len(v) {
						covered[i+k] = true
					}
				}
			}
		}
		left := 0
		for _, c := range covered {
			if !c {
				left++
			}
		}
		got := r.Text(text)
		if rest := strings.ReplaceAll(got, Mark, ""); len(rest) != left {
			t.Errorf("%q: got %q, want %d bytes left", text, got, left)
		}
	})
}

func TestJSONIsEqualButForTheSecrets(t *testing.T) {
	plainText := rapid.StringOfN(rapid.SampledFrom([]rune(`qw \"/é<`+"\n")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		value := secretValue().Draw(t, "secret")
		r := New()
		r.Add("NAME", value)
		var build func(depth int, secret, mark string) (any, any)
		build = func(depth int, secret, mark string) (any, any) {
			switch k := rapid.IntRange(0, 6).Draw(t, "kind"); {
			case k == 0 && depth > 0:
				var a, b []any
				for range rapid.IntRange(0, 3).Draw(t, "length") {
					x, y := build(depth-1, secret, mark)
					a, b = append(a, x), append(b, y)
				}
				return a, b
			case k <= 2 && depth > 0:
				a, b := map[string]any{}, map[string]any{}
				for i := range rapid.IntRange(0, 3).Draw(t, "length") {
					x, y := build(depth-1, secret, mark)
					key := fmt.Sprintf("k%d", i)
					a[key], b[key] = x, y
				}
				if rapid.Bool().Draw(t, "secret key") {
					a[secret], b[mark] = 1.0, 1.0
				}
				return a, b
			case k == 3:
				return 12345678.0, 12345678.0
			case k == 4:
				text := plainText.Draw(t, "text")
				return text + secret, text + mark
			}
			text := plainText.Draw(t, "text")
			return text, text
		}
		in, want := build(3, value, Mark)
		raw, _ := json.Marshal(in)
		got, changed := r.JSON(raw)
		wanted, _ := json.Marshal(want)
		var x, y any
		if json.Unmarshal(got, &x) != nil || json.Unmarshal(wanted, &y) != nil || fmt.Sprint(x) != fmt.Sprint(y) {
			t.Errorf("got %s\nwant %s", got, wanted)
		}
		if !changed && &got[0] != &raw[0] {
			t.Error("nothing was redacted and yet the bytes are others")
		}
	})
}
