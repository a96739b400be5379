package registry

import (
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// The names of the servers are the same as in pkg/mcp/mcpclient.
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

// An unregistered tool belongs to the server with the longest name that fits, unless it is a registered tool with a typing error.
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
		if want != nil && (!typ.Unregistered || !typ.ExtraOutputs || typ.Name != name || typ.MCP.Server != want.Server || typ.MCP.Tool != want.Tool || len(typ.Params) > 0) {
			t.Errorf("%s: %+v %+v", name, typ, typ.MCP)
		}
	}
	if typ, ok, err := r.Type("mcp-git-hub-create_issue"); !ok || err != nil || typ.Unregistered {
		t.Errorf("a registered tool: %+v %v %v", typ, ok, err)
	}
	if typ, ok, err := r.Known("mcp-x-no_way"); !ok || err != nil || !typ.Unregistered {
		t.Errorf("a denied one: %+v %v %v", typ, ok, err)
	}
}

// A workflow may spell a tool in several ways, and a pattern denies all of them.
func TestAnUnregisteredToolIsDeniedInEverySpelling(t *testing.T) {
	for pattern, denied := range map[string]bool{
		"mcp-g.h-list_all": true, "mcp-g.h-List.All": true, "mcp-g.h-list-*": true, "mcp-g.h-list_*": true, "mcp-*_all": true, "mcp-g.h-[a-l]ist_all": true,
		"mcp-g.h-list": false, "mcp-g.h-list_al": false, "shell": false, "mcp-h-list_all": false, "mcp-g.h-[a_]": false,
	} {
		r, _ := open(t, map[string]string{
			serversFile: `{"mcpServers":{"g.h":{"command":"x"}}}`, fileName: wrapped,
			"settings.json": `{"registry":{"nodes":{"deny":["` + pattern + `"]}}}`,
		})
		for _, name := range []string{"mcp-g.h-list_all", "mcp-g.h-list-all", "mcp-g.h-List.All"} {
			_, ok, err := r.Type(name)
			if ok == denied || err != nil || (r.Denial(name) != nil) != denied {
				t.Errorf("%s by %s: %v %v %v", name, pattern, ok, err, r.Denial(name))
			}
		}
	}
}

func TestDenialSaysHowToTakeItBack(t *testing.T) {
	r, _ := open(t, map[string]string{fileName: wrapped, "settings.json": `{"registry":{"nodes":{"allow":["sh*","mcp-*"],"deny":["she*","mcp-git-hub-create_*"]}}}`})
	for name, want := range map[string]string{
		"shell": "pflow-lib settings remove 'she*'", "mcp-git-hub-create-issue": "pflow-lib settings remove 'mcp-git-hub-create_*'",
		"http": "pflow-lib settings allow http", "nope": "", "mcp-x-y": "",
	} {
		f := r.Denial(name)
		if (f == nil) != (want == "") || f != nil && (len(f.Next) != 1 || f.Next[0].Call(fault.Shell) != want) {
			t.Errorf("%s: %+v", name, f)
		}
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
	if near := r.Nearest(strings.Repeat("zzzz ", maxNear) + "resise"); near != nil {
		t.Errorf("a word too many was looked for: %v", near)
	}
}
