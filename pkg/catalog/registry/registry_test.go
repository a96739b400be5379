package registry

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// upstreamFlat is registry.json as upstream pflow leaves it after a sync.
const upstreamFlat = `{
  "shell": {"module": "pflow.nodes.shell.shell", "class_name": "ShellNode", "interface": {"params": [{"key":"command","type":"str"}]}},
  "git-log": {"module": "pflow.nodes.git.log",
     "class_name": "GitLogNode", "interface": {"outputs": [{"key":"commits","type":"list","structure":{"sha":{"type":"str"}}}]}},
  "mcp-fs-read_text_file": {"class_name":"MCPNode","module":"pflow.nodes.mcp.node","file_path":"virtual://mcp",
    "interface":{"description":"Read","inputs":[],"params":[{"key":"path","type":"str","required":true}],
      "outputs":[{"key":"result","type":"any"}],"actions":["default"],
      "mcp_metadata":{"server":"fs","tool":"read_text_file","original_schema":{}}}},
  "resize": {"module": "someone.else", "interface": {"description": "Resize an image"}},
  "__metadata__": {"mcp_last_sync_time": 1.5}
}`

// wrapped is a registry in the shape that this package writes.
const wrapped = `{"version":"0.8.0","last_core_scan":"2026-01-01","nodes":{
  "mcp-git-hub-create-issue": {"class_name":"MCPNode","module":"pflow.nodes.mcp.node",
    "interface":{"description":"Create an issue","params":[{"name":"title","type":"str","required":true}],"outputs":[],
      "mcp_metadata":{"server":"git-hub","tool":"create_issue"}}}}}`

// open returns the registry of a new home with the given files.
func open(t testing.TB, files map[string]string) (*Registry, *home.Home) {
	t.Helper()
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(h.Path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Open(h), h
}

func names(types []nodetype.Type) []string {
	var out []string
	for _, t := range types {
		out = append(out, t.Name)
	}
	return out
}

func TestTypesOfBothShapes(t *testing.T) {
	builtin := nodetype.BuiltinNames() // echo http read-file shell write-file
	for name, tt := range map[string]struct {
		file string
		more []string
	}{
		"none":     {"", nil},
		"empty":    {"{}", nil},
		"upstream": {upstreamFlat, []string{"mcp-fs-read_text_file", "resize"}},
		"ours":     {wrapped, []string{"mcp-git-hub-create-issue"}},
		"odd name": {`{"nodes":{"module":"x","interface":{"description":"a type called nodes"}}}`, []string{"nodes"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{fileName: tt.file}
			if tt.file == "" {
				files = nil
			}
			r, _ := open(t, files)
			types, err := r.Types()
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for i, typ := range types {
				got[typ.Name] = true
				if i > 0 && types[i-1].Name >= typ.Name {
					t.Errorf("not sorted: %v", names(types))
				}
			}
			want := map[string]bool{}
			for _, n := range append(builtin, tt.more...) {
				want[n] = true
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestType(t *testing.T) {
	for _, tt := range []struct{ file, name, found string }{
		{upstreamFlat, "mcp-fs-read_text_file", "mcp-fs-read_text_file"},
		{upstreamFlat, "mcp-fs-read-text-file", "mcp-fs-read_text_file"},
		{upstreamFlat, "resize", "resize"},
		{upstreamFlat, "git-log", ""},
		{upstreamFlat, "mcp-fs-read", ""},
		{upstreamFlat, "__metadata__", ""},
		{wrapped, "mcp-git-hub-create-issue", "mcp-git-hub-create-issue"},
		{wrapped, "mcp-git-hub-create_issue", "mcp-git-hub-create-issue"},
		{wrapped, "mcp-git-hub-create", ""},
		{wrapped, "version", ""},
	} {
		r, _ := open(t, map[string]string{fileName: tt.file})
		got, ok, err := r.Type(tt.name)
		if err != nil || ok != (tt.found != "") || got.Name != tt.found {
			t.Errorf("Type(%s) = %q, %v, %v", tt.name, got.Name, ok, err)
		}
	}
}

func TestABuiltInWinsAndNeedsNoFile(t *testing.T) {
	r, _ := open(t, map[string]string{fileName: "{ broken"})
	typ, ok, err := r.Type("shell")
	if err != nil || !ok || len(typ.Params) < 2 {
		t.Errorf("Type(shell) = %+v, %v, %v", typ, ok, err)
	}
	r, _ = open(t, map[string]string{fileName: upstreamFlat})
	types, err := r.Types()
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range types {
		if typ.Name == "shell" && len(typ.Params) < 2 {
			t.Error("the file's shell hides the built-in one")
		}
	}
}

func TestDeniedTypesAreNone(t *testing.T) {
	for _, pattern := range []string{"mcp-fs-*", "mcp-fs-read_*", "mcp-fs-read-*"} {
		r, _ := open(t, map[string]string{
			fileName:        upstreamFlat,
			"settings.json": fmt.Sprintf(`{"registry":{"nodes":{"deny":["shell",%q]}}}`, pattern),
		})
		for _, name := range []string{"shell", "mcp-fs-read_text_file", "mcp-fs-read-text-file"} {
			if _, ok, err := r.Type(name); ok || err != nil {
				t.Errorf("%s: Type(%s) = %v, %v", pattern, name, ok, err)
			}
		}
		types, err := r.Types()
		if got := names(types); err != nil || strings.Contains(fmt.Sprint(got), "shell") || strings.Contains(fmt.Sprint(got), "mcp-") {
			t.Errorf("%s: %v %v", pattern, got, err)
		}
	}
}

func TestACorruptFileIsAClearFault(t *testing.T) {
	for name, tt := range map[string]struct {
		text, message string
		line          int
	}{
		"syntax":    {"{\n\"a\": {},,\n}", "registry.json in the home folder is corrupt: invalid character", 2},
		"list":      {"[]", "registry.json in the home folder is corrupt: it must be an object of entries by name, not a list", 0},
		"nodes":     {`{"nodes": "x"}`, "registry.json in the home folder is corrupt: nodes must be an object of entries by name, not text", 0},
		"empty":     {" ", "registry.json in the home folder is corrupt: unexpected end", 1},
		"entry":     {`{"x": {"interface": {"params": 7}}}`, `The entry of node type "x" in registry.json is broken: interface.params must be a list, not a number`, 0},
		"no entry":  {`{"nodes": {"x": 1}}`, `broken: it must be an object, not a number`, 0},
		"interface": {`{"nodes": {"x": {"interface": []}}}`, `broken: interface must be an object, not a list`, 0},
		"module":    {`{"nodes": {"x": {"module": {}, "interface": {}}}}`, `broken: module must be text, not an object`, 0},
		"actions":   {`{"nodes": {"x": {"interface": {"actions": ["a", 1]}}}}`, `broken: interface.actions[1] must be text, not a number`, 0},
		"parameter": {`{"nodes": {"x": {"interface": {"params": [{"name": "a"}, {"required": "yes"}]}}}}`, `broken: interface.params[1].required must be true or false, not text`, 0},
		"metadata":  {`{"nodes": {"x": {"interface": {"mcp_metadata": {"server": 1}}}}}`, `broken: interface.mcp_metadata.server must be text, not a number`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := open(t, map[string]string{fileName: tt.text})
			_, err := r.Types()
			f := fault.From(err)
			if f == nil || f.Type != fault.Validation || !strings.Contains(f.Message, tt.message) || f.Line != tt.line || len(f.Suggestions) == 0 {
				t.Errorf("%+v", f)
			}
		})
	}
}

// large returns a registry of n types with schemas like those of servers.
func large(n int) string {
	entries := map[string]json.RawMessage{}
	for i := range n {
		typ := nodetype.Type{
			Name: fmt.Sprintf("mcp-server%d-tool-%d", i%20, i), Description: strings.Repeat("does a thing with issues ", 8),
			MCP: &nodetype.MCP{Server: fmt.Sprintf("server%d", i%20), Tool: fmt.Sprintf("tool_%d", i),
				OriginalSchema: json.RawMessage(`{"type":"object","properties":{` + strings.Repeat(`"p":{"type":"string","description":"a parameter of the tool"},`, 5) + `"z":{}}}`)},
		}
		for p := range 6 {
			typ.Params = append(typ.Params, nodetype.Param{Name: fmt.Sprintf("p%d", p), Type: "str", Description: "a parameter of the tool"})
		}
		b, _ := typ.MarshalJSON()
		entries[typ.Name] = b
	}
	b, _ := json.MarshalIndent(map[string]any{"version": "1.0.0", "nodes": entries}, "", "  ")
	return string(b)
}

func BenchmarkThousandTypes(b *testing.B) {
	_, h := open(b, map[string]string{fileName: large(1000)})
	b.Run("type", func(b *testing.B) {
		for b.Loop() {
			if _, ok, err := Open(h).Type("mcp-server7-tool_7"); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			if m, _, err := Open(h).Search("servre7 issues", 0, 20); err != nil || len(m) == 0 {
				b.Fatal(m, err)
			}
		}
	})
}
