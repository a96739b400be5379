package suite

import (
	"encoding/base64"
	"testing"

	"github.com/tidwall/gjson"
)

// Images and files beside structured content that has nothing to do with them are the output content.
func TestBlocksBesideStructuredContentAreKept(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	encoded := base64.StdEncoding.EncodeToString([]byte("\x89PNG\x00 photo of a cat"))
	image := `{"type":"image","mimeType":"image/png","data":"` + encoded + `"}`
	p.serve("cam", `[{"name":"beside","inputSchema":{"type":"object"}},{"name":"inside","inputSchema":{"type":"object"}},{"name":"taken","inputSchema":{"type":"object"}}]`, map[string]string{
		"beside": `{"structuredContent":{"width":3},"content":[{"type":"text","text":"{}"},` + image + `,{"type":"resource","resource":{"uri":"a:b","text":"notes"}}]}`,
		"inside": `{"structuredContent":{"photo":"` + encoded + `"},"content":[` + image + `]}`,
		"taken":  `{"structuredContent":{"content":"mine"},"content":[` + image + `]}`,
	})
	p.write("w.json", `{"nodes":[{"id":"beside","type":"mcp-cam-beside"},{"id":"inside","type":"mcp-cam-inside"},{"id":"taken","type":"mcp-cam-taken"},
		{"id":"save","type":"write-file","params":{"file_path":"photo.png","content":"${beside.content[0].data}","content_is_binary":true}}],
		"outputs":{"width":{"source":"${beside.width}"},"notes":{"source":"${beside.content[1].resource.text}"},"taken":{"source":"${taken.content}"},"no":{"source":"${inside.content ?? null}"}}}`)
	out := p.must("pflow-exec", "run", "w.json", "--format", "json")
	if got := gjson.Get(out, "outputs"); got.Get("width").Int() != 3 || got.Get("notes").Str != "notes" || got.Get("taken").Str != "mine" || got.Get("no").Type != gjson.Null {
		t.Errorf("outputs %s", got.Raw)
	}
	if p.read("photo.png") != "\x89PNG\x00 photo of a cat" {
		t.Errorf("the file has %q", p.read("photo.png"))
	}
}
