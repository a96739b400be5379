package node

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

func TestReadFileEncodings(t *testing.T) {
	on := task(t)
	for name, c := range map[string]struct{ bytes, encoding, want string }{
		"utf-8 keeps the mark":      {"\xef\xbb\xbfa", "utf-8", "\ufeffa"},
		"utf-8-sig takes it off":    {"\xef\xbb\xbfü\n", "utf-8-sig", "ü\n"},
		"utf-8-sig without a mark":  {"ü", "UTF_8_SIG", "ü"},
		"utf-8-sig of nothing":      {"", "utf-8-sig", ""},
		"utf-16 with a mark":        {"\xff\xfea\x00=\xd8\x00\xde", "utf-16", "a😀"},
		"utf-16, the greater first": {"\xfe\xff\x00a\xd8=\xde\x00", "utf16", "a😀"},
		"utf-16 without a mark":     {"a\x00", "utf-16", "a"},
		"utf-16-be":                 {"\x00a\x00\xfc", "utf-16-be", "aü"},
		"latin-1":                   {"\xfc\xff\n", "latin1", "üÿ\n"},
		"ascii":                     {"a\n", "us-ascii", "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, filepath.Join(on.Dir, "f"), c.bytes)
			if got := output(t, perform(t, on, "read-file", `{"file_path":"f","encoding":"`+c.encoding+`"}`, nil), "content"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	for encoding, c := range map[string]struct{ bytes, why string }{
		"ascii":     {"ab\xc3\xbc", ", at byte 2"},
		"utf-8-sig": {"a\xfc", ", at byte 1"},
		"utf-16-le": {"a\x00b", ", at byte 2"},
		"utf-16":    {"\xff\xfe=\xd8a\x00", ", at byte 2"},
	} {
		put(t, filepath.Join(on.Dir, "f"), c.bytes)
		r := perform(t, on, "read-file", `{"file_path":"f","encoding":"`+encoding+`"}`, nil)
		failedWith(t, r, fault.Execution, "f as "+encoding, c.why)
		if got := plainOutput(t, r, "error"); !strings.Contains(got, c.why) {
			t.Errorf("the output error is %q", got)
		}
	}
}

func TestWriteFileEncodings(t *testing.T) {
	on := task(t)
	for encoding, want := range map[string]string{
		"utf-8": "ü😀", "utf-8-sig": "\xef\xbb\xbfü😀", "utf-16": "\xff\xfe\xfc\x00=\xd8\x00\xde", "utf-16-be": "\x00\xfc\xd8=\xde\x00",
	} {
		output(t, perform(t, on, "write-file", `{"file_path":"f","content":"ü😀","encoding":"`+encoding+`"}`, nil), "written")
		if got := content(t, filepath.Join(on.Dir, "f")); got != want {
			t.Errorf("%s: %q, want %q", encoding, got, want)
		}
	}
	for range 2 { // the mark stands at the beginning of the file alone
		output(t, perform(t, on, "write-file", `{"file_path":"log","content":"ü","encoding":"utf-8-sig","append":true}`, nil), "written")
	}
	if got := content(t, filepath.Join(on.Dir, "log")); got != "\xef\xbb\xbfüü" {
		t.Errorf("%q", got)
	}
}

// Text that is written in an encoding is read back unchanged, in pieces of any size.
func TestEncodingsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"utf-8", "utf-8-sig", "latin-1", "ascii", "utf-16", "utf-16-le", "utf-16-be"}).Draw(t, "encoding")
		chars := map[string]*rapid.Generator[rune]{"latin-1": rapid.Rune().Filter(func(r rune) bool { return r < 256 }), "ascii": rapid.Rune().Filter(func(r rune) bool { return r < 128 })}[name]
		if chars == nil {
			chars = rapid.Rune()
		}
		text := strings.TrimPrefix(rapid.StringOfN(chars, 0, 200, -1).Draw(t, "text"), "\ufeff")
		text = strings.Repeat(text, rapid.SampledFrom([]int{1, 1000}).Draw(t, "times"))
		form, f := encodingOf(name)
		if f != nil {
			t.Fatal(f)
		}
		w := &fileContent{content: textOf(rawjson.Quote(text)), form: form}
		bytes, err := io.ReadAll(iotest.HalfReader(w.reader(true)))
		if err != nil {
			t.Fatal(err)
		}
		back, err := io.ReadAll(form.reader(iotest.OneByteReader(strings.NewReader(string(bytes)))))
		if err != nil || string(back) != text {
			t.Fatalf("%q came back as %q, %v", text, back, err)
		}
	})
}

// A long value read in pieces equals the value read as a whole.
func TestTextOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.Just("\\"), rapid.Just("😀"), rapid.Just(strings.Repeat("ä\n", 40_000))).Draw(t, "text")
		quoted, err := json.Marshal(strings.Repeat(piece, rapid.SampledFrom([]int{1, 3, 9000}).Draw(t, "times")%max(1, 3_000_000/max(1, len(piece)))))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "escaped") {
			quoted = []byte(strings.ReplaceAll(string(quoted), "😀", `\ud83d\ude00`))
		}
		got, err := io.ReadAll(textOf(quoted))
		if want := template.AsText(quoted); err != nil || string(got) != want {
			t.Fatalf("%d bytes, want %d, %v", len(got), len(want), err)
		}
	})
}

// splitParam returns the parameter and leaves the others unchanged.
func TestLarge(t *testing.T) {
	for params, want := range map[string][2]string{
		`{"content":"a\\\"}b","x":1}`:                                     {`"a\\\"}b"`, `{"content":null,"x":1}`},
		`{"a":{"content":1,"b":[",",{"c":"}"}]},"content":[1,{"y":"]"}]}`: {`[1,{"y":"]"}]`, `{"a":{"content":1,"b":[",",{"c":"}"}]},"content":null}`},
		`{"a":"\"content\":1"}`:                                           {"", `{"a":"\"content\":1"}`},
		`{}`:                                                              {"", `{}`},
	} {
		value, rest := splitParam(&Call{Params: json.RawMessage(params)}, "content")
		if string(value) != want[0] || string(rest.Params) != want[1] {
			t.Errorf("%s: %s and %s", params, value, rest.Params)
		}
	}
}
