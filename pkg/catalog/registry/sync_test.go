package registry

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/sjson"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
)

// serverTools returns the tools of a server as a sync registers them.
func serverTools(server string, configured []string, tools ...string) ServerTools {
	list := make([]mcpclient.Tool, len(tools))
	for i, name := range tools {
		list[i] = mcpclient.Tool{Name: name}
	}
	return ServerTools{server, mcpclient.NodeTypes(server, list, configured)}
}

// tools returns what the node types of a registry stand for: server, tool.
func tools(t interface{ Fatal(args ...any) }, r *Registry) map[string][2]string {
	all, err := r.Types()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][2]string{}
	for _, typ := range all {
		if typ.MCP != nil {
			found[typ.Name] = [2]string{typ.MCP.Server, typ.MCP.Tool}
		}
	}
	return found
}

func namesWith(configured []string) func(string, []string) map[string]string {
	return func(server string, tools []string) map[string]string {
		return mcpclient.ToolNames(server, tools, configured)
	}
}

// The registry is the same after any order of syncs, one by one or together, and every tool is found.
func TestTheOrderOfSyncsDoesNotMatter(t *testing.T) {
	dir := t.TempDir()
	fresh := func(t *rapid.T) *Registry {
		h, err := home.Open(dir+"/"+rapid.StringMatching(`[a-z]{12}`).Draw(t, "home"), dir)
		if err != nil {
			t.Fatal(err)
		}
		return Open(h)
	}
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "a-b", "a-b-c", "b", "c"}), 1, 4, rapid.ID).Draw(t, "servers")
		toolName := rapid.StringMatching(`[a-cA_-]{1,4}`)
		lists := map[string]ServerTools{}
		count := 0
		for _, server := range servers {
			names := rapid.SliceOfNDistinct(toolName, 0, 6, rapid.ID).Draw(t, "tools")
			lists[server] = serverTools(server, servers, names...)
			count += len(names)
		}
		sync := func(r *Registry, list ...ServerTools) {
			done, _, err := r.ReplaceServers(t.Context(), list, SyncOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range done {
				if d.Fault != nil || len(d.Overwritten)+len(d.Renamed)+len(d.Removed) > 0 {
					t.Fatalf("%+v", d)
				}
			}
		}
		var want map[string][2]string
		for range 3 {
			r := fresh(t)
			for _, server := range rapid.Permutation(servers).Draw(t, "order") {
				sync(r, lists[server])
			}
			got := tools(t, r)
			if want == nil {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" || len(got) != count {
				t.Fatalf("%d tools, want %d\n%s", len(got), count, diff)
			}
			for name, tool := range got {
				if typ, ok, err := r.Type(name); err != nil || !ok || typ.MCP.Server != tool[0] || typ.MCP.Tool != tool[1] {
					t.Fatalf("%s: %+v %v %v", name, typ, ok, err)
				}
			}
		}
		r := fresh(t)
		sync(r, slices.Collect(maps.Values(lists))...)
		if diff := cmp.Diff(want, tools(t, r)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A server that is added later makes a tool of another one change its name, which needs a permission.
func TestRename(t *testing.T) {
	r, h := open(t, nil)
	sync := func(rename bool, configured []string, list ...ServerTools) []Synced {
		t.Helper()
		done, _, err := r.ReplaceServers(t.Context(), list, SyncOptions{Rename: rename, Names: namesWith(configured)})
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	alone, both := []string{"a"}, []string{"a", "a-b"}
	sync(false, alone, serverTools("a", alone, "b-c", "x"))
	before := content(t, h, fileName)
	outer, inner := serverTools("a", both, "b-c", "x"), serverTools("a-b", both, "c", "d")
	for _, d := range sync(false, both, outer, inner) {
		f := d.Fault
		if f == nil || f.Type != fault.Validation || f.Details["renames"] == nil || len(f.Suggestions) == 0 {
			t.Errorf("%+v", d)
		}
	}
	if content(t, h, fileName) != before {
		t.Error("the registry was changed")
	}
	// The tool that gives its name away gets the name that it has after a sync of its own server.
	moved := outer.Types[0].Name
	got := sync(true, both, inner)[0]
	if diff := cmp.Diff(Synced{Change: Change{
		Added: []string{"mcp-a-b-d"}, Overwritten: []string{"mcp-a-b-c"}, Renamed: []Renaming{{"a", "b-c", "mcp-a-b-c", moved}},
	}}, got); diff != "" {
		t.Error(diff)
	}
	want := map[string][2]string{moved: {"a", "b-c"}, "mcp-a-x": {"a", "x"}, "mcp-a-b-c": {"a-b", "c"}, "mcp-a-b-d": {"a-b", "d"}}
	if diff := cmp.Diff(want, tools(t, r)); diff != "" {
		t.Error(diff)
	}
	for _, d := range sync(false, both, outer, inner) {
		if d.Fault != nil || !cmp.Equal(d.Change, Change{}) {
			t.Errorf("%+v", d)
		}
	}
	// A tool that is gone may leave its name, but not to another one.
	gone := sync(false, both, serverTools("a-b", both, "D"))[0]
	if gone.Fault == nil {
		t.Errorf("%+v", gone)
	}
	if c := sync(true, both, serverTools("a-b", both, "D"))[0]; !cmp.Equal(c.Removed, []string{"mcp-a-b-c"}) || !cmp.Equal(c.Updated, []string{"mcp-a-b-d"}) {
		t.Errorf("%+v", c)
	}
}

// An entry of an earlier version, which has fewer keys, is written anew and is no changed definition.
func TestEntriesThatGainKeysAreNotUpdated(t *testing.T) {
	tool := mcpclient.Tool{
		Name: "say", Title: "Say", Description: "Says <it>.", InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","enum":["a"]}}}`),
		Annotations: json.RawMessage(`{"readOnlyHint":true}`), More: json.RawMessage(`{"icons":[]}`),
	}
	sync := func(r *Registry, edit func(*mcpclient.Tool)) Change {
		t.Helper()
		now := tool
		edit(&now)
		done, _, err := r.ReplaceServers(t.Context(), []ServerTools{{"s", mcpclient.NodeTypes("s", []mcpclient.Tool{now}, nil)}}, SyncOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return done[0].Change
	}
	const meta = "nodes.mcp-s-say.interface.mcp_metadata."
	for name, tt := range map[string]struct {
		drop    []string
		edit    func(*mcpclient.Tool)
		updated bool
	}{
		"fewer keys":           {[]string{meta + "title", meta + "annotations", meta + "more", "nodes.mcp-s-say.interface.params.0.enum"}, func(*mcpclient.Tool) {}, false},
		"only server and tool": {[]string{meta + "original_schema", meta + "title", meta + "annotations", meta + "more"}, func(*mcpclient.Tool) {}, false},
		"another description":  {[]string{meta + "more"}, func(t *mcpclient.Tool) { t.Description = "Says that." }, true},
		"another schema": {[]string{meta + "more"}, func(t *mcpclient.Tool) {
			t.InputSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","enum":["b"]}}}`)
		}, true},
		"a schema that has grown": {[]string{meta + "more"}, func(t *mcpclient.Tool) {
			t.InputSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","enum":["a"],"maxLength":3}}}`)
		}, true},
		"another annotation": {nil, func(t *mcpclient.Tool) {
			t.Annotations = json.RawMessage(`{"readOnlyHint":true,"destructiveHint":true}`)
		}, true},
		"no annotations": {nil, func(t *mcpclient.Tool) { t.Annotations = nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			first, h := open(t, nil)
			sync(first, func(*mcpclient.Tool) {})
			text, err := h.Read(fileName)
			if err != nil {
				t.Fatal(err)
			}
			whole := text
			for _, key := range tt.drop {
				if text, err = sjson.DeleteBytes(text, key); err != nil {
					t.Fatal(err)
				}
			}
			r, h := open(t, map[string]string{fileName: string(text)})
			if c := sync(r, tt.edit); len(c.Updated) > 0 != tt.updated || len(c.Added)+len(c.Removed)+len(c.Overwritten)+len(c.Renamed) > 0 {
				t.Errorf("%+v", c)
			}
			if now, err := h.Read(fileName); err != nil || !tt.updated && string(now) != string(whole) {
				t.Errorf("%s, %v", now, err)
			}
		})
	}
}
