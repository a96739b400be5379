package registry

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func tool(server, name, description string) nodetype.Type {
	return nodetype.Type{Name: nodetype.MCPName(server, name), Description: description, MCP: &nodetype.MCP{Server: server, Tool: name}}
}

func content(t *testing.T, h *home.Home, name string) string {
	t.Helper()
	b, err := h.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReplaceServer(t *testing.T) {
	ctx := context.Background()
	r, h := open(t, nil)
	steps := []struct {
		types []nodetype.Type
		want  Change
	}{
		{[]nodetype.Type{tool("git", "log", "a"), tool("git", "push", "b")}, Change{Added: []string{"mcp-git-log", "mcp-git-push"}}},
		{[]nodetype.Type{tool("git", "push", "b"), tool("git", "log", "a")}, Change{}},
		{[]nodetype.Type{tool("git", "log", "new"), tool("git", "pull", "c")},
			Change{Added: []string{"mcp-git-pull"}, Updated: []string{"mcp-git-log"}, Removed: []string{"mcp-git-push"}}},
	}
	for i, step := range steps {
		before := content(t, h, fileName)
		got, err := r.ReplaceServer(ctx, "git", step.types, false)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(step.want, got); d != "" {
			t.Errorf("step %d: %s", i, d)
		}
		if changed := content(t, h, fileName) != before; changed && i > 0 && content(t, h, fileName+".bak") != before {
			t.Errorf("step %d: the backup is not the state before", i)
		}
		tools, err := r.MCPTools("git") // the same registry sees what it changed
		if err != nil || len(tools) != len(step.types) {
			t.Errorf("step %d: %v %v", i, names(tools), err)
		}
	}
	if got, err := r.ReplaceServer(ctx, "git-log", nil, false); err != nil || !cmp.Equal(got, Change{}) {
		t.Errorf("%+v %v", got, err)
	}
	removed, err := r.RemoveServer(ctx, "git")
	if err != nil || !cmp.Equal(removed, []string{"mcp-git-log", "mcp-git-pull"}) {
		t.Errorf("removed %v, %v", removed, err)
	}
	if tools, _ := r.MCPTools("git"); len(tools) != 0 {
		t.Errorf("left: %v", names(tools))
	}
}

func TestANameOfAnotherServerIsOverwrittenAndSaid(t *testing.T) {
	r, _ := open(t, nil)
	if _, err := r.ReplaceServer(t.Context(), "git", []nodetype.Type{tool("git", "hub-log", "")}, false); err != nil {
		t.Fatal(err)
	}
	got, err := r.ReplaceServer(t.Context(), "git-hub", []nodetype.Type{tool("git-hub", "log", "")}, false)
	if err != nil || !cmp.Equal(got, Change{Overwritten: []string{"mcp-git-hub-log"}}) {
		t.Errorf("%+v %v", got, err)
	}
}

func TestToolsWithOneTypeNameAreAllKept(t *testing.T) {
	r, _ := open(t, nil)
	types := mcpclient.NodeTypes("s", []mcpclient.Tool{{Name: "a_b"}, {Name: "a-b"}, {Name: "A b"}}, nil)
	got, err := r.ReplaceServer(t.Context(), "s", types, false)
	if err != nil || len(got.Added) != 3 {
		t.Fatalf("%+v %v", got, err)
	}
	for name, want := range map[string]string{"mcp-s-a-b": "a-b", "mcp-s-a_b": "a_b", "mcp-s-A b": "A b", types[0].Name: "a_b", types[2].Name: "A b"} {
		if typ, ok, err := r.Type(name); !ok || err != nil || typ.MCP.Tool != want {
			t.Errorf("Type(%s) = %+v, %v, %v", name, typ, ok, err)
		}
	}
}

func TestARewriteKeepsWhatIsNotOurs(t *testing.T) {
	for name, file := range map[string]string{"flat": upstreamFlat, "wrapped": wrapped} {
		t.Run(name, func(t *testing.T) {
			r, h := open(t, map[string]string{fileName: file})
			if _, err := r.ReplaceServer(t.Context(), "new", []nodetype.Type{tool("new", "x", "<b> & co")}, false); err != nil {
				t.Fatal(err)
			}
			after := content(t, h, fileName)
			if !gjson.Valid(after) || content(t, h, fileName+".bak") != file {
				t.Fatalf("not valid, or the backup is wrong:\n%s", after)
			}
			old := gjson.Parse(file)
			if nodes := old.Get("nodes"); nodes.Exists() {
				if gjson.Get(after, "version").Raw != `"0.8.0"` || gjson.Get(after, "last_core_scan").Raw != `"2026-01-01"` {
					t.Errorf("keys beside nodes are lost:\n%s", after)
				}
				old = nodes
			} else if gjson.Get(after, "__metadata__").Raw != `{"mcp_last_sync_time": 1.5}` || gjson.Get(after, "nodes.__metadata__").Exists() {
				t.Errorf("metadata is lost:\n%s", after)
			}
			old.ForEach(func(key, value gjson.Result) bool {
				if got := gjson.Get(after, "nodes."+key.String()).Raw; got != value.Raw && key.String() != "__metadata__" {
					t.Errorf("%s is now %s", key, got)
				}
				return true
			})
		})
	}
}

func TestACorruptFileIsKept(t *testing.T) {
	r, h := open(t, map[string]string{fileName: `{"half": `, fileName + ".bak": wrapped})
	_, corrupt, err := r.ReplaceServers(t.Context(), []ServerTools{{"new", []nodetype.Type{tool("new", "x", "")}}}, SyncOptions{})
	if err != nil || !strings.HasPrefix(corrupt, fileName+".corrupt-") {
		t.Fatalf("%q, %v", corrupt, err)
	}
	if content(t, h, corrupt) != `{"half": ` {
		t.Error("the bytes of the corrupt file are lost")
	}
	if content(t, h, fileName+".bak") != wrapped {
		t.Error("the last good state is lost")
	}
	if tools, err := r.MCPTools("new"); err != nil || len(tools) != 1 {
		t.Errorf("%v %v", names(tools), err)
	}
	if err := os.WriteFile(h.Path(fileName), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := r.ReplacePrograms(t.Context(), nil, nil)
	if err != nil || content(t, h, c.Corrupt) != "[]" || c.Corrupt == corrupt {
		t.Errorf("%+v %v", c, err)
	}
}

func TestSyncsAtTheSameTimeLoseNothing(t *testing.T) {
	_, h := open(t, nil)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			server := fmt.Sprintf("s%d", i)
			if _, err := Open(h).ReplaceServer(t.Context(), server, []nodetype.Type{tool(server, "x", "")}, false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 12 {
		if tools, err := Open(h).MCPTools(fmt.Sprintf("s%d", i)); err != nil || len(tools) != 1 {
			t.Errorf("server %d: %v %v", i, names(tools), err)
		}
	}
}

// Upstream pflow can share the home. Its entries stay as they are, even those of the same server.
func TestForeignEntriesStay(t *testing.T) {
	const execute = `{ "class_name": "MCPNode", "docstring": "é", "interface":{"inputs": [], "mcp_metadata": {"server":"front", "tool":"execute"}},"type": "mcp"}`
	const list = `{"class_name":"MCPNode","interface":{"inputs":[],"mcp_metadata":{"server":"front","tool":"list_library"}}}`
	file := `{"nodes": {"mcp-front-execute": ` + execute + `, "mcp-front-list_library": ` + list + `}, "version": "0.16.0"}`
	types := []nodetype.Type{tool("front", "execute", "new"), tool("front", "list_library", "new")}
	r, h := open(t, map[string]string{fileName: file})
	for range 2 {
		c, err := r.ReplaceServer(t.Context(), "front", types, false)
		if err != nil || !cmp.Equal(c.Foreign, []string{"mcp-front-execute"}) || c.Removed != nil || c.Overwritten != nil {
			t.Errorf("%+v %v", c, err)
		}
		after := content(t, h, fileName)
		if gjson.Get(after, "nodes.mcp-front-execute").Raw != execute || gjson.Get(after, "nodes.mcp-front-list_library").Raw != list {
			t.Errorf("an entry has changed:\n%s", after)
		}
		if !gjson.Get(after, "nodes.mcp-front-list-library").Exists() {
			t.Errorf("a tool is missing:\n%s", after)
		}
	}
	c, err := r.ReplaceServer(t.Context(), "front", types, true)
	if want := (Change{Updated: []string{"mcp-front-execute"}, Removed: []string{"mcp-front-list_library"}}); err != nil || !cmp.Equal(c, want) {
		t.Errorf("%+v %v", c, err)
	}
}
