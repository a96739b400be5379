package suite

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// toolServer is an MCP server in shell: it lists what is in the file that its argument names, and answers each call with the
// result in the file RESULT.json beside it, where RESULT is the name of the tool.
const toolServer = `while IFS= read -r line; do
	id=$(printf '%s\n' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	case $line in
	*'"method":"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}' ;;
	*'"method":"tools/list"'*) result='{"tools":'$(tr -d '\n' <"$1")'}' ;;
	*'"method":"tools/call"'*)
		tool=$(printf '%s\n' "$line" | sed -n 's/.*"name":"\([a-zA-Z_-]*\)".*/\1/p')
		result=$(tr -d '\n' <"${1%/*}/$tool.json") ;;
	*) continue ;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done`

// serve configures and syncs a toolServer. results has the results of the tools by their names.
func (p *place) serve(server, list string, results map[string]string) {
	p.Helper()
	folder := "server-" + server
	for tool, result := range results {
		p.write(filepath.Join(folder, tool+".json"), result)
	}
	path := p.write(filepath.Join(folder, "list"), list)
	p.must("pflow-sync", "add", server, "--", "sh", "-c", toolServer, "server", path)
	p.must("pflow-sync", "sync", server)
}

func TestBinaryResultsAreBlobs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	photo, clip, file := "\x89PNG\x00 photo", strings.Repeat("\xff\x00sound", 20_000), `{"not":"a value"}`
	encoded := func(content string) string { return base64.StdEncoding.EncodeToString([]byte(content)) }
	p.serve("cam", `[{"name":"take","inputSchema":{"type":"object"}}]`, map[string]string{"take": `{"content":[
		{"type":"image","mimeType":"image/png","data":"` + encoded(photo) + `"},
		{"type":"audio","mimeType":"audio/wav","data":"` + encoded(clip) + `"},
		{"type":"resource","resource":{"uri":"a:b","mimeType":"application/json","blob":"` + encoded(file) + `"}}]}`})
	p.write("w.json", `{"nodes":[{"id":"shot","type":"mcp-cam-take","params":{}},
		{"id":"save","type":"write-file","params":{"file_path":"photo.png","content":"${shot.result[0].data}","content_is_binary":true}},
		{"id":"plain","type":"write-file","params":{"file_path":"plain.png","content":"${shot.nothing ?? shot.result[0].data}"}},
		{"id":"batch","type":"write-file","batch":{"items":["clip.wav"]},"params":{"file_path":"${item}","content":"${shot.result[1][\"data\"]}"}},
		{"id":"inside","type":"write-file","params":{"file_path":"inside.txt","content":"data:${shot.result[0].data}"}},
		{"id":"text","type":"write-file","params":{"file_path":"text.txt","content":"${shot.result[0].data}","content_is_binary":false}}],
		"outputs":{"type":{"source":"${shot.result[0].mimeType}"},"file":{"source":"${shot.result[2].resource.blob}"}}}`)
	out := p.must("pflow-exec", "run", "w.json", "--format", "ndjson")
	for _, want := range []struct{ place, mime, content string }{
		{"0.data", "image/png", photo}, {"1.data", "audio/wav", clip}, {"2.resource.blob", "application/json", file},
	} {
		var got gjson.Result
		for line := range strings.Lines(out) {
			if e := gjson.Parse(line); e.Get("event").Str == "node_completed" && e.Get("node").Str == "shot" {
				got = e.Get("outputs.result." + want.place)
			}
		}
		name := strings.TrimPrefix(got.Get("$blob").Str, "sha256:")
		stored, _ := filepath.Glob(filepath.Join(p.home, "runs", "r*", "blobs", "*"+name+"*"))
		if got.Get("mime").Str != want.mime || !got.Get("binary").Bool() || got.Get("bytes").Int() != int64(len(want.content)) || len(stored) != 1 {
			t.Errorf("%s: %s, stored %v", want.place, got.Raw, stored)
			continue
		}
		if b, err := os.ReadFile(stored[0]); err != nil || string(b) != want.content {
			t.Errorf("%s: %v, %d bytes", want.place, err, len(b))
		}
	}
	if p.read("photo.png") != photo {
		t.Errorf("the file has %q", p.read("photo.png"))
	}
	for name, want := range map[string]string{"plain.png": photo, "clip.wav": clip, "inside.txt": "data:" + encoded(photo), "text.txt": encoded(photo)} {
		if got := p.read(name); got != want {
			t.Errorf("%s has %d bytes: %.40q", name, len(got), got)
		}
	}
	outputs := gjson.Parse(p.must("pflow-exec", "wait", "last")).Get("outputs")
	if outputs.Get("type").Str != "image/png" || outputs.Get("file").Str != encoded(file) {
		t.Errorf("outputs %s", outputs.Raw)
	}
}

func TestAWrappedValueIsTheResult(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("py", `[{"name":"greet","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"result":{"type":"string"}},"required":["result"]}},
		{"name":"count","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"]}},
		{"name":"model","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}}]`, map[string]string{
		"greet": `{"content":[{"type":"text","text":"done"}],"structuredContent":{"result":"done"}}`,
		"count": `{"content":[{"type":"text","text":"7"}],"structuredContent":{"result":7}}`,
		"model": `{"content":[],"structuredContent":{"url":"u"}}`,
	})
	p.write("w.json", `{"nodes":[{"id":"a","type":"mcp-py-greet"},{"id":"b","type":"mcp-py-count"},{"id":"c","type":"mcp-py-model"}],
		"outputs":{"a":{"source":"${a.result}"},"b":{"source":"${b.result}"},"c":{"source":"${c.result}"},"url":{"source":"${c.url}"}}}`)
	out := p.must("pflow-exec", "run", "w.json", "--format", "json")
	if got := gjson.Get(out, "outputs").Raw; got != `{"a":"done","b":7,"c":{"url":"u"},"url":"u"}` {
		t.Errorf("outputs %s", got)
	}
	// The types of the results are known to the check.
	p.write("bad.json", `{"nodes":[{"id":"b","type":"mcp-py-count"},{"id":"c","type":"echo","params":{"data":"${b.result.value}"}}]}`)
	if o := p.run("pflow-lib", "check", "bad.json"); o.exit != 2 || !strings.Contains(o.stdout, "${b.result} is of type int") {
		t.Errorf("check: %s", o)
	}
}
