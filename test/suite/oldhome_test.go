package suite

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The files of a home of upstream pflow are read unchanged.
func TestAnOldHome(t *testing.T) {
	t.Parallel()
	const (
		core = `"shell":{"module":"pflow.nodes.shell.shell","class_name":"ShellNode","docstring":"Run","file_path":"/old/shell.py","type":"core","interface":{"description":"Run","inputs":[],"params":[{"key":"default","type":"utf-8)"}],"outputs":[{"key":"stdout","type":"str"}],"actions":["default","error"]}}`
		tool = `"mcp-front-list_library":{"class_name":"MCPNode","module":"pflow.nodes.mcp.node","docstring":"","file_path":"virtual://mcp","interface":{"description":"List what is saved","inputs":[],"params":[{"key":"pattern","type":"str","required":false,"description":"words"}],"outputs":[{"key":"result","type":"any","description":"Tool execution result"}],"actions":["default"],"mcp_metadata":{"server":"front","tool":"list_library","original_schema":{}}}}`
	)
	for shape, registry := range map[string]string{
		"flat":    `{` + core + `,` + tool + `,"__metadata__":{"mcp_last_sync_time":1764900000.5,"mcp_servers_hash":"ab12"}}`,
		"wrapped": `{"last_core_scan":"2026-01-01T00:00:00","nodes":{` + core + `,` + tool + `},"version":"0.8.0"}`,
	} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/registry.json", registry)
			p.write("home/mcp-servers.json", "{\n  \"mcpServers\": {\n    \"front\": {\n      \"args\": [],\n      \"command\": \"pflow-serve\",\n      \"env\": {\"T\": \"${T:-x}\"}\n    }\n  }\n}\n")
			p.write("home/settings.json", `{"version":"1.0.0","registry":{"nodes":{"allow":["*"],"deny":["pflow.nodes.git.*","pflow.nodes.github.*"]},"include_test_nodes":false,"output_mode":"smart"},"runtime":{"template_resolution_mode":"strict"},"llm":{"default_model":null},"env":{"who":"all the world"}}`)
			ir := `{"ir_version":"0.1.0","inputs":{"who":{"description":"whom","type":"string","required":true}},` +
				`"nodes":[{"id":"say","type":"shell","purpose":"Greet","params":{"command":"echo \"hello ${who}\""}},` +
				`{"id":"look","type":"mcp-front-list_library","params":{}}],"edges":[{"from":"say","to":"look"}],` +
				`"outputs":{"greeting":{"description":"it","source":"${say.stdout}"},"saved":{"source":"${look.result}"}},"start_node":"say"}`
			old := `{"description":"Test flow","ir":` + ir + `,"created_at":"2025-11-21T01:10:27.952558+00:00","updated_at":"2025-11-21T01:10:27.952558+00:00","version":"1.0.0","name":"greet",` +
				`"rich_metadata":{"execution_count":1,"last_execution_timestamp":"2025-11-21T01:10:28.591384","last_execution_success":true,"last_execution_params":{"who":"Zed"},"search_keywords":["hello"]}}`
			p.draft("greet", old)
			before := p.files()

			if d := p.document(p.must("pflow-lib", "check", "greet")); d["valid"] != true {
				t.Errorf("check: %v", d)
			}
			if d := p.document(p.must("pflow-lib", "describe", "greet")); d["description"] != "Test flow" || len(d["nodes"].([]any)) != 2 {
				t.Errorf("describe: %v", d)
			}
			if got := p.must("pflow-lib", "show", "greet"); strings.TrimSpace(got) != old {
				t.Errorf("show: %s", got)
			}
			if got := p.must("pflow-lib", "search", "saved"); !strings.Contains(got, `"type":"mcp-front-list_library"`) {
				t.Errorf("search: %s", got)
			}
			if got := p.must("pflow-sync", "tools"); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"tool":"list_library"`) {
				t.Errorf("tools: %s", got)
			}
			if got := p.must("pflow-sync", "list"); !strings.Contains(got, `"server":"front"`) {
				t.Errorf("list: %s", got)
			}
			d := p.document(p.must("pflow-exec", "run", "greet", "--format", "json"))
			if got := fmt.Sprint(d["outputs"]); got != "map[greeting:hello <redacted> saved:map[total:0 workflows:[]]]" { // settings are secrets
				t.Errorf("run: %s", got)
			}
			if got := p.must("pflow-exec", "run", "greet", "who=you", "--print", "greeting"); got != "hello you\n" {
				t.Errorf("run with a value: %q", got)
			}
			for name, content := range before {
				if p.files()[name] != content {
					t.Errorf("%s was changed by those who read it", name)
				}
			}

			p.must("pflow-lib", "save", "greet", "greeting", "--description", "Greet")
			var kept map[string]json.RawMessage
			if err := json.Unmarshal([]byte(p.read(filepath.Join("home", "library", "greeting.json"))), &kept); err != nil || kept["description"] == nil {
				t.Errorf("what was saved: %v, %s", err, kept)
			}
			if got := p.must("pflow-exec", "run", "greeting", "who=you", "--print", "greeting"); got != "hello you\n" {
				t.Errorf("run of what was saved: %q", got)
			}
			p.must("pflow-sync", "sync", "front")
			var after struct {
				Nodes map[string]json.RawMessage `json:"nodes"`
			}
			if err := json.Unmarshal([]byte(p.read("home/registry.json")), &after); err != nil || string(after.Nodes["shell"]) == "" {
				t.Errorf("the registry after a sync: %v, %s", err, after.Nodes)
			}
			if got := p.must("pflow-exec", "run", "greeting", "who=you", "--print", "greeting"); got != "hello you\n" {
				t.Errorf("run after the sync: %q", got)
			}
		})
	}
}
