package output

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const base = "https://example.com/api/mcp/outputs/job_abc"

func noBlobs(ref string) ([]byte, error) { return nil, errors.New("there is no blob " + ref) }

func quoted(text string) string { return string(rawjson.Quote(text)) }

func link(name, file, mime string, size int, description string) Link {
	return Link{Type: "resource_link", URI: base + "/" + name, Name: file, MIMEType: mime, SizeBytes: size, Description: description}
}

func TestWhatAnOutputIs(t *testing.T) {
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG1"))
	for name, c := range map[string]struct {
		value string // of the stream
		want  any
	}{
		"text":                       {`"hello"`, Inline{Type: Text, Value: "hello"}},
		"no text":                    {`""`, Inline{Type: Text}},
		"null":                       {`null`, Inline{Type: Text, Value: "null"}},
		"a number keeps its digits":  {`1.50`, Inline{Type: Text, Value: "1.50"}},
		"an object":                  {`{"a": [1, 2]}`, Inline{Type: Text, Value: `{"a":[1,2]}`}},
		"an escaped key":             {`{"$$blob":"x"}`, Inline{Type: Text, Value: `{"$blob":"x"}`}},
		"JSON in a text":             {quoted(`{"a": 1}`), Inline{Type: Text, Value: `{"a": 1}`}},
		"a list":                     {quoted(`[{"type":"image","value":"x"}]`), Inline{Type: Text, Value: `[{"type":"image","value":"x"}]`}},
		"torn JSON":                  {quoted(`{"type":"image","value":"x"`), Inline{Type: Text, Value: `{"type":"image","value":"x"`}},
		"an image without a value":   {quoted(`{"type":"image"}`), Inline{Type: Text, Value: `{"type":"image"}`}},
		"an image of a number":       {quoted(`{"type":"image","value":1}`), Inline{Type: Text, Value: `{"type":"image","value":1}`}},
		"an audio under value":       {quoted(`{"type":"buffer","value":"x"}`), Inline{Type: Text, Value: `{"type":"buffer","value":"x"}`}},
		"an image":                   {quoted(`{"type":"image","value":"` + png + `"}`), link("o", "o.png", "image/png", 5, "")},
		"an image with its type":     {quoted(`{"type":"image","value":"` + png + `","mimeType":"image/JPEG; q=1"}`), link("o", "o.jpg", "image/jpeg", 5, "")},
		"an image that is no image":  {quoted(`{"type":"image","value":"` + png + `","mimeType":"text/html"}`), link("o", "o.png", "image/png", 5, "")},
		"an image with a header":     {quoted(`{"type":"image","value":"` + png + `","mimeType":"image/png\r\nSet-Cookie: a=b"}`), link("o", "o.png", "image/png", 5, "")},
		"an image of another type":   {quoted(`{"type":"image","value":"` + png + `","mimeType":"image/x-odd"}`), link("o", "o.bin", "image/x-odd", 5, "")},
		"an audio":                   {quoted(`{"type":"buffer","buffer":"AAAA"}`), link("o", "o.webm", "audio/webm", 3, "")},
		"an audio with its type":     {quoted(`{"type":"buffer","buffer":"AAA=","mimeType":"audio/mpeg"}`), link("o", "o.mp3", "audio/mpeg", 2, "")},
		"code":                       {quoted(`{"type":"react","code":"export"}`), Inline{Code, "export", "text/jsx"}},
		"long code":                  {quoted(`{"type":"react","code":"` + strings.Repeat("c", 3600) + `"}`), link("o", "o.jsx", "text/jsx", 3600, "Code output (3600 chars)")},
		"2000 code points":           {quoted(strings.Repeat("é", 2000)), Inline{Type: Text, Value: strings.Repeat("é", 2000)}},
		"2001 code points":           {quoted(strings.Repeat("é", 2001)), link("o", "o.txt", "text/plain", 4002, "Text output (2001 chars)")},
		"2000 beyond 16 bits":        {quoted(strings.Repeat("😀", 2000)), Inline{Type: Text, Value: strings.Repeat("😀", 2000)}},
		"a blob of an image":         {`{"$blob":"sha256:1","bytes":7,"mime":"image/webp","binary":true}`, link("o", "o.webp", "image/webp", 7, "")},
		"bytes of an audio":          {`{"$base64":"AAAA","mime":"audio/wav"}`, link("o", "o.wav", "audio/wav", 3, "")},
		"a blob of another type":     {`{"$blob":"sha256:1","bytes":7,"mime":"application/pdf","binary":true}`, link("o", "o.bin", "application/pdf", 7, "")},
		"a blob with a header in it": {`{"$blob":"sha256:1","bytes":7,"mime":"text/x\r\nA: b","binary":true}`, link("o", "o.bin", "application/octet-stream", 7, "")},
		"bytes that are not UTF-8":   {`{"$base64":"/w=="}`, Inline{Type: Text, Value: "/w=="}},
	} {
		o, err := Of(json.RawMessage(c.value), noBlobs)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(c.want, o.Document(base, "o")); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestALinkIsEscaped(t *testing.T) {
	o, err := Of(json.RawMessage(quoted(strings.Repeat("x", 3000))), noBlobs)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := o.Document(base, "My Image/../1?a#b\r\n%é").(Link)
	if want := base + "/My%20Image%2F..%2F1%3Fa%23b%0D%0A%25%C3%A9"; got.URI != want {
		t.Errorf("%s, expected %s", got.URI, want)
	}
}

func TestContent(t *testing.T) {
	load := func(ref string) ([]byte, error) { return []byte("bytes of " + ref), nil }
	for _, c := range []struct {
		value, want string
		err         error
	}{
		{`"héllo"`, "héllo", nil},
		{quoted(`{"type":"react","code":"export"}`), "export", nil},
		{quoted(`{"type":"image","value":"AAEC/w=="}`), "\x00\x01\x02\xff", nil},
		{quoted(`{"type":"image","value":"AAEC/w"}`), "", ErrBase64},
		{quoted(`{"type":"image","value":"AAEC\nAAEC"}`), "", ErrBase64},
		{quoted(`{"type":"image","value":"AAE-"}`), "", ErrBase64},
		{quoted(`{"type":"image","value":"AB=="}`), "", ErrBase64}, // bits are left over
		{quoted(`{"type":"image","value":"x"}`), "", ErrBase64},
		{quoted(`{"type":"buffer","buffer":""}`), "", ErrEmpty},
		{`{"$blob":"sha256:1","bytes":7,"mime":"image/webp","binary":true}`, "bytes of sha256:1", nil},
	} {
		o, err := Of(json.RawMessage(c.value), load)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := o.Content(load); string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v", c.value, got, err)
		}
	}
}

func TestABlobThatIsGone(t *testing.T) {
	if _, err := Of(json.RawMessage(`{"$blob":"sha256:1","bytes":7,"mime":"text/plain; charset=utf-8"}`), noBlobs); err == nil {
		t.Error("no error")
	}
}

// FuzzOf holds that what a workflow prints becomes an answer with the size of its content, without a character that could end a header.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{`hello`, `{"type":"image","value":"AAAA","mimeType":"image/png"}`, `{"type":"buffer","buffer":"AA=="}`, `{"type":"react","code":""}`, "{\"type\":\"image\",\"value\":\"AAA\n\"}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		o, err := Of(event.Escape(rawjson.Quote(text)), noBlobs)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(o.MIME, "\r\n\x00 ") {
			t.Errorf("content type %q", o.MIME)
		}
		if content, err := o.Content(noBlobs); err == nil && len(content) != o.Size {
			t.Errorf("%d bytes, size %d", len(content), o.Size)
		}
		if o.Kind == Text && o.text != text {
			t.Errorf("%q became %q", text, o.text)
		}
	})
}
