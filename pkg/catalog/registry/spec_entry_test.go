package registry

import (
	"testing"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// An entry of a tool without mcp_metadata is found by its name, its words and its server.
func TestEntryWithoutMetadata(t *testing.T) {
	const entry = `{"class_name":"MCPNode","module":"pflow.nodes.mcp.node","file_path":"virtual://mcp","interface":{"description":"Create a GitHub issue",
		"params":[{"name":"title","type":"str"}],"outputs":[{"name":"issue_url","type":"str"}],"actions":["default","error"]}}`
	r, _ := open(t, map[string]string{
		fileName:    `{"mcp-github-create-issue":` + entry + `,"mcp-git-hub-log":` + entry + `,"mcp-gone-tool":` + entry + `,"git-status":{"module":"pflow.nodes.git.status","interface":{}}}`,
		serversFile: `{"mcpServers":{"github":{"command":"x"},"git":{"command":"x"},"git-hub":{"command":"x"}}}`,
	})
	for name, want := range map[string][2]string{
		"mcp-github-create-issue": {"github", "create-issue"}, "mcp-git-hub-log": {"git-hub", "log"}, "mcp-gone-tool": {"gone", "tool"},
	} {
		typ, ok, err := r.Type(name)
		if err != nil || !ok || typ.MCP == nil || typ.MCP.Server != want[0] || typ.MCP.Tool != want[1] || !typ.MCP.Respelled || typ.Unregistered || !typ.ExtraOutputs {
			t.Errorf("%s: %+v %v %v", name, typ, ok, err)
		}
		if len(typ.Params) != 1 || typ.Outputs[0].Name != "issue_url" {
			t.Errorf("%s: %+v", name, typ)
		}
	}
	if _, ok, _ := r.Type("git-status"); ok {
		t.Error("a node of upstream pflow is found")
	}
	all, err := r.Types()
	if err != nil || len(all) != 3+len(nodetype.BuiltinNames()) {
		t.Errorf("%d types, %v", len(all), err)
	}
	err = r.Find(Query{Words: "create issue github"}, func(found *Found) error {
		if found.Len() == 0 || found.Name(0) != "mcp-github-create-issue" {
			t.Errorf("%d found", found.Len())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
