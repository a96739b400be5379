package cells

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"a\tb\nc\n\n":                       "a\tb\nc\n\n",
		"größer 日本 👩‍💻":                     "größer 日本 👩‍💻",
		"dos\r\nlines\r\n":                  "dos\nlines\n",
		"progress 1%\rprogress 2%":          "progress 1%␍progress 2%",
		"\r\r\n":                            "␍\n",
		"\x1b]52;c;ZWNobw==\a":              "\ufffd]52;c;ZWNobw==\ufffd",
		"\x1b]0;title\x1b\\":                "\ufffd]0;title\ufffd\\",
		"\x1b[2J\x1b[1;1H\x1b[31mred\x1b[m": "\ufffd[2J\ufffd[1;1H\ufffd[31mred\ufffd[m",
		"c1 \u009b31m \u009d0;x\u009c":      "c1 \ufffd31m \ufffd0;x\ufffd",
		"bytes \x9b31m":                     "bytes \ufffd31m",
		"bell\a back\b del\x7f null\x00":    "bell\ufffd back\ufffd del\ufffd null\ufffd",
		"\u202egnp.exe\u202c":               "\ufffdgnp.exe\ufffd",
	} {
		if got := Safe(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		for _, step := range []int{1, 2, 3, 7, 100} { // also in parts, ended by a newline
			var out bytes.Buffer
			w := NewWriter(&out)
			for part := range slices.Chunk([]byte(text+"\n"), step) {
				if n, err := w.Write(part); n != len(part) || err != nil {
					t.Error(n, err)
				}
			}
			whole := Safe(text + "\n")
			if got := out.String(); got != whole {
				t.Errorf("%q in parts of %d becomes %q, want %q", text, step, got, whole)
			}
		}
	}
}

func FuzzSafe(f *testing.F) {
	f.Add("\x1b[1m\r\n\u009b \xff\r")
	f.Fuzz(func(t *testing.T, text string) {
		got := Safe(text)
		if strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("%q becomes %q", text, got)
		}
		if Safe(got) != got {
			t.Errorf("%q becomes %q, and that %q", text, got, Safe(got))
		}
	})
}
