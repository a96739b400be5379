package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/mcp/message"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	pingFrame = "Content-Length: 2\r\n\r\n{}"
	lastFrame = "Content-Length: 10\r\n\r\n{\"last\":1}"
	last      = `{"last":1}`
)

// readAll returns all messages of a stream, and "!TEXT" for input that is refused.
func readAll(t interface{ Fatalf(string, ...any) }, f framing, most int) []string {
	var got []string
	for range most {
		text, err := f.next()
		if bad, ok := errors.AsType[*message.Refusal](err); ok {
			got = append(got, "!"+bad.Message)
			continue
		}
		if len(text) > 0 {
			got = append(got, string(text))
		}
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatalf("error %v", err)
		}
	}
	t.Fatalf("no end after %d messages", most)
	return nil
}

func TestFrames(t *testing.T) {
	const (
		garbage  = "!" + notHeader
		without  = "!" + noLength
		noJSON   = "!" + bodyNotJSON
		noNumber = "!" + notLength
		torn     = "!" + tornHeader
	)
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"blank", "\r\n \n", nil},
		{"two", pingFrame + lastFrame, []string{"{}", last}},
		{"line feeds alone", "Content-Length: 2\n\n{}" + lastFrame, []string{"{}", last}},
		{"any case, no space", "content-LENGTH:2\r\n\r\n{}" + lastFrame, []string{"{}", last}},
		{"other headers", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\nX: y\r\n\r\n{}" + lastFrame, []string{"{}", last}},
		{"byte order mark", "\uFEFF" + lastFrame, []string{last}},
		{"line breaks between", pingFrame + "\n\r\n" + lastFrame + "\n", []string{"{}", last}},
		{"space within", "Content-Length: 6\r\n\r\n\n {} \n" + lastFrame, []string{"{}", last}},
		{"bytes, not characters", "Content-Length: 9\r\n\r\n\"流é\\n\"" + lastFrame, []string{`"流é\n"`, last}},
		{"a header in a string", "Content-Length: 33\r\n\r\n{\"a\":\"\\nContent-Length: 2\\n\\n{}\"}" + lastFrame, []string{`{"a":"\nContent-Length: 2\n\n{}"}`, last}},

		{"no length", "Content-Type: x\r\n\r\n{}\n" + lastFrame, []string{without, last}},
		{"empty length", "Content-Length:\r\n\r\n" + lastFrame, []string{without, last}},
		{"negative", "Content-Length: -2\r\n\r\n{}\n" + lastFrame, []string{fmt.Sprintf(noNumber, "-2"), last}},
		{"no number", "Content-Length: 2 bytes\r\n\r\n{}\n" + lastFrame, []string{fmt.Sprintf(noNumber, "2 bytes"), last}},
		{"no number, other frame in mid-line", "Content-Length: two\r\n\r\n{}" + lastFrame, []string{fmt.Sprintf(noNumber, "two"), last}},
		{"a line instead", "{\"jsonrpc\":\"2.0\"}\n" + lastFrame, []string{garbage, last}},
		{"text", "hello\nworld\n\n" + lastFrame, []string{garbage, last}},
		{"text in a header block", "Content-Length: 2\r\nhello\r\n\r\n{}" + lastFrame, []string{garbage, last}},
		{"a long line", strings.Repeat("x", 3*maxHeader) + "\n" + lastFrame, []string{garbage, last}},
		{"a long line with a header after it", strings.Repeat("x", 3*maxHeader-7) + lastFrame, []string{garbage, last}},
		{"bad length, good one in the same block", "Content-Length: 40\r\r{\"a\":1}\r\n" + lastFrame, []string{fmt.Sprintf(noNumber, "40\r\r{\"a\":1}"), last}},
		{"bad length, good one in the same line", "Content-Length: 40\r\r{}" + lastFrame, []string{fmt.Sprintf(noNumber, "40\r\r{}Content-Length: 10"), last}},
		{"two bad lengths", "Content-Length: two\nContent-Length: 3x\n\n{}\n" + lastFrame, []string{fmt.Sprintf(noNumber, "two"), fmt.Sprintf(noNumber, "3x"), last}},
		{"broken off header block", "Content-Length: 7\r\n" + lastFrame, []string{last}},

		{"no JSON", "Content-Length: 5\r\n\r\nhello" + lastFrame, []string{fmt.Sprintf(noJSON, 5), last}},
		{"no body", "Content-Length: 0\r\n\r\n" + lastFrame, []string{fmt.Sprintf(noJSON, 0), last}},
		{"too short", "Content-Length: 4\r\n\r\n{\"a\":1}" + lastFrame, []string{fmt.Sprintf(noJSON, 4), last}},
		{"too long", "Content-Length: 30\r\n\r\n{}\r\n" + lastFrame + pingFrame, []string{fmt.Sprintf(noJSON, 30), last, "{}"}},
		{"too long by a bit of a header", "Content-Length: 8\r\n\r\n{}\n" + lastFrame + pingFrame, []string{fmt.Sprintf(noJSON, 8), last, "{}"}},
		{"too long, next in mid-line", "Content-Length: 20\r\n\r\n{}" + lastFrame + pingFrame, []string{fmt.Sprintf(noJSON, 20), last, "{}"}},
		{"too long to the end", "Content-Length: 90\r\n\r\n{}\n" + lastFrame, []string{fmt.Sprintf("!"+tornBody, 35, 90), last}},

		{"torn header", pingFrame + "Content-Len", []string{"{}", torn}},
		{"torn header block", pingFrame + "Content-Length: 2\r\n", []string{"{}", torn}},
		{"torn body", pingFrame + "Content-Length: 10\r\n\r\n{\"last\"", []string{"{}", fmt.Sprintf("!"+tornBody, 7, 10)}},
	} {
		for how, in := range map[string]io.Reader{"at once": strings.NewReader(tc.in), "byte by byte": iotest.OneByteReader(strings.NewReader(tc.in))} {
			got := readAll(t, newFrames(in), 10)
			for i, line := range got {
				got[i], _, _ = strings.Cut(line, "; send")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s, %s: %s", tc.name, how, diff)
			}
		}
	}
}

// small frames have a limit of 100 bytes.
func small(in io.Reader) *frames {
	f := newFrames(in)
	f.limit = 100
	return f
}

func TestFrameOverTheLimitIsSkippedWhole(t *testing.T) {
	body := `"` + strings.Repeat("x", 20_000) + `"`
	over := fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))
	tooLong := "!" + tooLong
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{"one", over + body + lastFrame, []string{tooLong, last}},
		{"one with lines", over + strings.Repeat("\n", len(body)) + lastFrame, []string{tooLong, last}},
		{"just over", "Content-Length: 101\n\n" + strings.Repeat(" ", 101) + lastFrame, []string{tooLong, last}},
		{"not as long as it says", over + "{}\n" + lastFrame + pingFrame, []string{tooLong, last, "{}"}},
		{"as long as a part of the next header", "Content-Length: 105\n\n" + strings.Repeat(" ", 100) + "\n" + lastFrame, []string{tooLong, last}},
		{"longer than any number", "Content-Length: 99999999999999999999\r\n\r\n{}\n" + lastFrame, []string{tooLong, last}},
		{"another bad one right after it", over + body + "Content-Length: two\r\n\r\n\n" + lastFrame,
			[]string{tooLong, "!" + fmt.Sprintf(notLength, "two") + "; " + (&frames{}).expected(), last}},
		{"torn", over + "{}", []string{tooLong}},
	} {
		for how, in := range map[string]io.Reader{"at once": strings.NewReader(tc.in), "byte by byte": iotest.OneByteReader(strings.NewReader(tc.in))} {
			if diff := cmp.Diff(tc.want, readAll(t, small(in), 10)); diff != "" {
				t.Errorf("%s, %s: %s", tc.name, how, diff)
			}
		}
	}
}

func TestFramesKeepNoMoreThanTheyNeed(t *testing.T) {
	const n = 50_000
	f := newFrames(strings.NewReader(strings.Repeat(pingFrame, n) + lastFrame + strings.Repeat(pingFrame, n)))
	var middle string
	for i := range 2*n + 1 {
		text, err := f.next()
		if i == n {
			middle = string(text)
		} else if string(text) != "{}" || err != nil {
			t.Fatalf("%s %v", text, err)
		}
	}
	if cap(f.in.data) > 8*chunk {
		t.Errorf("it keeps room for %d bytes", cap(f.in.data))
	}
	if middle != last {
		t.Errorf("a message has become %s", middle)
	}
}

func TestReadErrorEndsFrames(t *testing.T) {
	f := newFrames(io.MultiReader(strings.NewReader(pingFrame), iotest.ErrReader(io.ErrClosedPipe)))
	if message, err := f.next(); string(message) != "{}" || err != nil {
		t.Errorf("%s %v", message, err)
	}
	if _, err := f.next(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}

// TestFramesComeBackAsTheyWent puts any messages through any framing, cut into pieces of any size.
func TestFramesComeBackAsTheyWent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent []string
		var stream []byte
		framings := map[string]framing{"lsp": &frames{}, "newline": &lines{}}
		name := rapid.SampledFrom([]string{"lsp", "newline"}).Draw(t, "framing")
		for _, text := range rapid.SliceOf(rapid.String()).Draw(t, "texts") {
			encoded, err := rawjson.Marshal(map[string]string{"Content-Length: 1\n": text})
			if err != nil {
				t.Fatal(err)
			}
			message := string(encoded)
			sent = append(sent, message)
			stream = append(stream, framings[name].wrap([]byte(message))...)
		}
		pieces := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 5).Draw(t, "pieces")
		f, _ := FramingAuto.of(&inPieces{bytes.NewReader(stream), pieces, 0})
		if _, lsp := f.(*frames); len(sent) > 0 && lsp != (name == "lsp") {
			t.Fatalf("%s was taken for %T", name, f)
		}
		if diff := cmp.Diff(sent, readAll(t, f, len(sent)+1)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// inPieces reads at most the given numbers of bytes at a time, over and over.
type inPieces struct {
	r      io.Reader
	pieces []int
	turn   int
}

func (p *inPieces) Read(b []byte) (int, error) {
	p.turn++
	return p.r.Read(b[:min(len(b), p.pieces[p.turn%len(p.pieces)])])
}

func TestAutoLooksForTheFirstMessage(t *testing.T) {
	for in, want := range map[string]struct {
		lsp   bool
		noise int
		rest  string
	}{
		"":                                   {false, 0, ""},
		" \n":                                {false, 0, ""},
		"{}":                                 {false, 0, "{}"},
		"[]":                                 {false, 0, "[]"},
		"[\n":                                {false, 0, "[\n"},
		"[":                                  {false, 0, "["},
		"\uFEFF{}\n":                         {false, 0, "{}\n"},
		"\xEF\xBBContent-Length: 2\n{":       {false, 1, "{"},
		"hello":                              {false, 1, ""},
		"Continue\n":                         {false, 1, ""},
		"Content\r\n":                        {false, 1, ""},
		"C":                                  {true, 0, "C"},
		"Content-":                           {true, 0, "Content-"},
		"cONTENT-lENGTH: 2":                  {true, 0, "cONTENT-lENGTH: 2"},
		"content-type: x":                    {true, 0, "content-type: x"},
		"\r\n\t \uFEFF \nContent-Len":        {true, 0, "Content-Len"},
		"bash: warning\n \nContent-L":        {true, 1, "Content-L"},
		"bash: warning\nnews\n {}":           {false, 2, "{}"},
		"[WARN] {\n[7]\nContent-L":           {true, 2, "Content-L"},
		strings.Repeat("x", 200_000) + "\n{": {false, 1, "{"},
	} {
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in))} {
			b := bufio.NewReaderSize(r, 64<<10)
			lsp, noise := detect(b)
			if rest, _ := io.ReadAll(b); lsp != want.lsp || noise != want.noise || string(rest) != want.rest {
				t.Errorf("%.40q, %s: %v, %d, %q", in, how, lsp, noise, rest)
			}
		}
	}
}

func FuzzFrames(f *testing.F) {
	for _, seed := range []string{"", "hello", "Content-Length: 5\n\n", "Content-Length: 5\r\n", "Content-Length: 105\n\nx", "Content-Type: x\n\n{}", "\n\nContent-Length: 7\n\n{}Conte", "Content-Length: 99999999999999999999\n\n"} {
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, garbage []byte, piece int) {
		stream := slices.Concat(garbage, []byte("\n"+lastFrame+pingFrame))
		r := &inPieces{bytes.NewReader(stream), []int{max(1, piece%1000)}, 0}
		got := readAll(t, small(r), len(stream)+2)
		if n := len(got); n < 2 || got[n-2] != last || got[n-1] != "{}" {
			t.Fatalf("the frames after the garbage are lost: %q", got)
		}
	})
}
