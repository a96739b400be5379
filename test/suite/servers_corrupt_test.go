package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// TestListsOfServersWithABrokenHome holds that the configured servers are listed although the registry or the settings cannot be used,
// with a warning that names the file, and that a hint names a backup only if there is one.
func TestListsOfServersWithABrokenHome(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("pflow-sync", "add", "suite", "--", "pflow-serve")
	c := p.connect("pflow-serve", "--toolsets", "servers")
	defer c.leave()
	for file, texts := range map[string][]string{
		"registry.json": {`{`, `[]`, `{"nodes":[]}`, `{"nodes":{"mcp-suite-x":{"class_name":1},"mcp-suite-y":[]}}`},
		"settings.json": {`{`, `[]`},
	} {
		for _, text := range texts {
			p.write("home/"+file, text)
			for tool, arguments := range map[string]string{"list_servers": `{}`, "list_server_tools": `{"server":"suite","tool":"x"}`} {
				answer, failed := c.call(tool, arguments)
				raw, _ := rawjson.Marshal(answer)
				got := gjson.ParseBytes(raw)
				if failed || !strings.Contains(got.Get("warnings.0.message").Str, file) || strings.Contains(string(raw), ".bak") || strings.Contains(string(raw), "Go ") {
					t.Errorf("%s %s: %s: %s", file, text, tool, raw)
				}
				if tool == "list_servers" && got.Get("servers.0.server").Str != "suite" || tool == "list_server_tools" && got.Get("tools").Raw != "[]" {
					t.Errorf("%s %s: %s: %s", file, text, tool, raw)
				}
			}
		}
		if err := os.Remove(filepath.Join(p.home, file)); err != nil {
			t.Fatal(err)
		}
	}
	p.write("home/registry.json", `{`)
	p.write("home/registry.json.bak", `{}`)
	if o := p.must("pflow-sync", "list"); gjson.Get(o, "server").Str != "suite" || gjson.Get(o, "tools").Exists() {
		t.Error(o)
	}
	answer, _ := c.call("list_servers", `{}`)
	if raw, _ := rawjson.Marshal(answer); !strings.Contains(string(raw), "registry.json.bak") {
		t.Errorf("%s", raw)
	}
}
