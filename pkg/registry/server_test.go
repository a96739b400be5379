package registry

import (
	"slices"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// The names of the servers are those that who talks to them has.
func TestServerNames(t *testing.T) {
	for _, text := range []string{
		`{"mcpServers":{"b":{"command":"x"},"a":{"url":"http://x"}}}`,
		`{"servers":{"b":{"transport":"stdio","command":"x"}},"mcpServers":{"b":{"command":"y"},"c":{}},"other":{"d":{}}}`,
		`{}`, ` `,
	} {
		_, h := open(t, map[string]string{serversFile: text})
		servers, err := mcpclient.LoadServers(h)
		if err != nil {
			t.Fatal(err)
		}
		if got := serverNames(h); !slices.Equal(got, servers.Names()) {
			t.Errorf("%s: %v, want %v", text, got, servers.Names())
		}
	}
	if _, h := open(t, map[string]string{serversFile: `{"mcpServers":`}); serverNames(h) != nil {
		t.Error("names are read from what is no JSON")
	}
	if serversFile != mcpclient.File {
		t.Errorf("the file is called %s", mcpclient.File)
	}
}

// A tool that is not registered is that of the longest server's name, unless it is a registered one mistyped.
func TestAnUnregisteredTool(t *testing.T) {
	r, _ := open(t, map[string]string{
		serversFile: `{"mcpServers":{"git":{"command":"x"},"git-hub":{"command":"x"},"x":{"command":"x"}}}`, fileName: wrapped,
		"settings.json": `{"registry":{"nodes":{"deny":["mcp-x-no_*"]}}}`,
	})
	for name, want := range map[string]*nodetype.MCP{
		"mcp-git-hub-close":         {Server: "git-hub", Tool: "close"},
		"mcp-git-log":               {Server: "git", Tool: "log"},
		"mcp-git-create_issue":      {Server: "git", Tool: "create_issue"},
		"mcp-x-a-b":                 {Server: "x", Tool: "a-b"},
		"mcp-git-hub-create-issues": nil, // create-issue is registered
		"mcp-git-hub-":              {Server: "git", Tool: "hub-"},
		"mcp-none-log":              nil,
		"mcp-x-no_way":              nil,
		"mcp-x":                     nil,
		"git-log":                   nil,
	} {
		typ, ok, err := r.Type(name)
		if err != nil || ok != (want != nil) {
			t.Errorf("%s: %v %v", name, ok, err)
			continue
		}
		if want != nil && (!typ.Assumed || !typ.Open || typ.Name != name || typ.MCP.Server != want.Server || typ.MCP.Tool != want.Tool || len(typ.Params) > 0) {
			t.Errorf("%s: %+v %+v", name, typ, typ.MCP)
		}
	}
	if typ, ok, err := r.Type("mcp-git-hub-create_issue"); !ok || err != nil || typ.Assumed {
		t.Errorf("a registered tool: %+v %v %v", typ, ok, err)
	}
	if typ, ok, err := r.Known("mcp-x-no_way"); !ok || err != nil || !typ.Assumed {
		t.Errorf("a denied one: %+v %v %v", typ, ok, err)
	}
}

func TestNames(t *testing.T) {
	r, _ := open(t, map[string]string{fileName: upstreamFlat, "settings.json": `{"registry":{"nodes":{"deny":["mcp-fs-read-text-*","shell"]}}}`})
	types, err := r.Types()
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Names()
	if err != nil || !slices.Equal(got, names(types)) || slices.Contains(got, "shell") || slices.Contains(got, "mcp-fs-read_text_file") {
		t.Errorf("%v %v, want %v", got, err, names(types))
	}
	if near := r.Nearest("resise zzzz"); !slices.Equal(near, []string{"resize"}) {
		t.Errorf("%v", near)
	}
}
