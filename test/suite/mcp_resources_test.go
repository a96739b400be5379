package suite

import (
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// resourceServer is an MCP server in shell with resources. Its tool link remembers its argument, which may be read afterwards as
// note:latest, and only from the same process. $1 is the file with its tools, in whose folder contents have the names of resources.
const resourceServer = `folder=${1%/*} note=
while IFS= read -r line; do
	id=$(printf '%s\n' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	uri=$(printf '%s\n' "$line" | sed -n 's/.*"uri":"\([^"]*\)".*/\1/p')
	result= error=
	case $line in
	*'"method":"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"t","version":"1"}}' ;;
	*'"method":"tools/list"'*) result='{"tools":'$(tr -d '\n' <"$1")'}' ;;
	*'"method":"resources/list"'*) result=$(tr -d '\n' <"$folder/resources") ;;
	*'"method":"resources/templates/list"'*) result=$(tr -d '\n' <"$folder/templates") ;;
	*'"uri":"note:latest"'*) result='{"contents":[{"uri":"note:latest","mimeType":"text/plain","text":"'$note'"}]}' ;;
	*'"method":"resources/read"'*)
		if [ -f "$folder/${uri#res:}" ]; then result=$(tr -d '\n' <"$folder/${uri#res:}"); else error='{"code":-32002,"message":"no such thing"}'; fi ;;
	*'"method":"tools/call"'*)
		note=$(printf '%s\n' "$line" | sed -n 's/.*"text":"\([^"]*\)".*/\1/p')
		result='{"content":[{"type":"text","text":"noted"},{"type":"resource_link","uri":"note:latest","name":"latest","mimeType":"text/plain"}],"structuredContent":{"noted":true}}' ;;
	*) continue ;;
	esac
	if [ -n "$error" ]; then printf '{"jsonrpc":"2.0","id":%s,"error":%s}\n' "$id" "$error"
	else printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"; fi
done`

// offer configures and syncs a resourceServer. contents has the results of resources/read by the names of resources.
func (p *place) offer(server, tools string, contents map[string]string) {
	p.Helper()
	folder := "server-" + server
	for name, result := range contents {
		p.write(filepath.Join(folder, name), result)
	}
	path := p.write(filepath.Join(folder, "list"), tools)
	p.must("pflow-sync", "add", server, "--", "sh", "-c", resourceServer, "server", path)
	p.must("pflow-sync", "sync", server)
}

const (
	noLists = `{"resources":[],"resourceTemplates":[]}`
	linking = `[{"name":"link","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]`
)

func TestResourcesAreReadByANode(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	photo := "\x89PNG\x00" + strings.Repeat("photo", 20_000)
	p.offer("files", linking, map[string]string{
		"resources": `{"resources":[{"uri":"res:text","name":"A text"},{"uri":"res:json","name":"config"}]}`,
		"templates": `{"resourceTemplates":[{"uriTemplate":"res:{name}","name":"any"}]}`,
		"text":      `{"contents":[{"uri":"res:text","mimeType":"text/markdown","text":"{\"plain\": \"text\"}"}]}`,
		"json":      `{"contents":[{"uri":"res:json","mimeType":"application/json; charset=utf-8","text":"{\"port\": 8.50, \"id\": 9007199254740993}"}]}`,
		"photo":     `{"contents":[{"uri":"res:photo","mimeType":"image/png","blob":"` + base64.StdEncoding.EncodeToString([]byte(photo)) + `"}]}`,
		"folder":    `{"contents":[{"uri":"res:folder/a","mimeType":"text/plain","text":"a"},{"uri":"res:folder/b","mimeType":"application/json","text":"[1]"}]}`,
		"nothing":   `{"contents":[]}`,
	})
	p.write("w.json", `{"inputs":{"name":{"type":"string"}},"nodes":[
		{"id":"read","type":"mcp-files-read-resource","params":{"uri":"res:${name}"}}],
		"outputs":{"result":{"source":"${read.result}"}}}`)
	for name, want := range map[string]string{
		"text":    `"{\"plain\": \"text\"}"`,
		"json":    `{"port":8.50,"id":9007199254740993}`,
		"folder":  `[{"uri":"res:folder/a","mimeType":"text/plain","text":"a"},{"uri":"res:folder/b","mimeType":"application/json","text":"[1]"}]`,
		"nothing": `null`,
	} {
		out := p.must("pflow-exec", "run", "w.json", "name="+name, "--format", "json")
		if got := gjson.Get(out, "outputs.result|@ugly").Raw; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	p.write("binary.json", `{"nodes":[{"id":"read","type":"mcp-files-read-resource","params":{"uri":"res:photo"}},
		{"id":"save","type":"write-file","params":{"file_path":"photo.png","content":"${read.blob}","content_is_binary":true}}],
		"outputs":{"type":{"source":"${read.mimeType}"}}}`)
	out := p.must("pflow-exec", "run", "binary.json", "--format", "ndjson")
	if p.read("photo.png") != photo || !strings.Contains(out, `"mime":"image/png"`) {
		t.Errorf("the bytes of the resource are not those of the server: %.1000s", out)
	}
	failed := p.fails(1, `not found`, "pflow-exec", "run", "w.json", "name=none", "--format", "json")
	if got := gjson.Get(failed.stdout, "error.message").Str; !strings.Contains(got, "res:none") {
		t.Errorf("the resource that does not exist is not named: %s", failed)
	}
	p.fails(2, `"missing":["uri"]`, "pflow-lib", "check", p.write("none.json", `{"nodes":[{"id":"read","type":"mcp-files-read-resource","params":{}}]}`))

	tool := gjson.Parse(p.must("pflow-sync", "tools", "files", "resources/read"))
	for _, part := range []string{"res:text (A text)", "res:json (config)", "res:{name} (any)"} {
		if !strings.Contains(tool.Get("description").Str, part) {
			t.Errorf("the description does not name %s: %s", part, tool)
		}
	}
	if raw := p.must("pflow-sync", "call", "files", "--resource", "res:photo", "--raw"); raw != photo {
		t.Errorf("call --resource --raw: %d bytes, want %d", len(raw), len(photo))
	}
	if got := gjson.Get(p.must("pflow-sync", "call", "files", "--resource", "res:json"), "result.id").Raw; got != "9007199254740993" {
		t.Errorf("call --resource: %s", got)
	}
	p.fails(2, `"usage_error"`, "pflow-sync", "call", "files", "link", "--resource", "res:json")
	p.spoken("bare", "well", "echo")
	p.must("pflow-sync", "sync", "bare")
	p.fails(2, `"not_found"`, "pflow-sync", "call", "bare", "--resource", "res:json")
	if _, ok := p.entries()["mcp-bare-read-resource"]; ok {
		t.Error("a server without resources got the node type that reads them")
	}
}

func TestResourceLinksAreReadOnDemand(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.offer("notes", linking, map[string]string{"resources": noLists, "templates": noLists})
	p.write("w.json", `{"nodes":[
		{"id":"write","type":"mcp-notes-link","params":{"text":"remember the milk"}},
		{"id":"all","type":"mcp-notes-read-resource","params":{"uri":"${item.uri}"},"batch":{"items":"${write.resource_links}"}},
		{"id":"read","type":"mcp-notes-read-resource","params":{"uri":"${write.resource_links[0].uri}"}}],
		"outputs":{"text":{"source":"${read.result}"},"links":{"source":"${write.resource_links}"},"result":{"source":"${write.result}"},"first":{"source":"${all.results[0].result}"}}}`)
	out := gjson.Get(p.must("pflow-exec", "run", "w.json", "--format", "json"), "outputs|@ugly").Raw
	for path, want := range map[string]string{
		"text": `"remember the milk"`, "first": `"remember the milk"`, "result": `{"noted":true}`,
		"links": `[{"type":"resource_link","uri":"note:latest","name":"latest","mimeType":"text/plain"}]`,
	} {
		if got := gjson.Get(out, path).Raw; got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// TestReadingResourcesTakesNoNameFromATool: a server's own tools keep the names that they have without resources.
func TestReadingResourcesTakesNoNameFromATool(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.offer("own", `[{"name":"read_resource","inputSchema":{"type":"object"}}]`, map[string]string{
		"resources": noLists, "templates": noLists, "x": `{"contents":[{"uri":"res:x","text":"the resource"}]}`,
	})
	owners := map[string]string{}
	for name, e := range p.entries() {
		owners[e.Get("interface.mcp_metadata.tool").Str] = name
	}
	if len(owners) != 2 || owners["read_resource"] != "mcp-own-read-resource" || !strings.HasPrefix(owners["resources/read"], "mcp-own-read-resource-") {
		t.Fatalf("the node types are %v", owners)
	}
	p.write("w.json", `{"nodes":[{"id":"read","type":"`+owners["resources/read"]+`","params":{"uri":"res:x"}}],"outputs":{"x":{"source":"${read.result}"}}}`)
	if got := gjson.Get(p.must("pflow-exec", "run", "w.json", "--format", "json"), "outputs.x").Str; got != "the resource" {
		t.Errorf("the resource is %q", got)
	}
}
