package dependencies

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/settings"
)

// of returns what the draft "w" of a home with the given files needs.
func of(t *testing.T, files map[string]string, env map[string]string) List {
	t.Helper()
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(h.Path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(h.Path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := settings.Load(h)
	if err != nil {
		t.Fatal(err)
	}
	lib := library.Open(h)
	entry, err := lib.Find("w")
	if err != nil {
		t.Fatal(err)
	}
	file, err := entry.Load()
	if err != nil {
		t.Fatal(err)
	}
	return Home{Library: lib, Types: registry.Open(h), Settings: s, Getenv: func(name string) string { return env[name] }}.Of(file)
}

func TestOf(t *testing.T) {
	got := of(t, map[string]string{
		"workflows/w.json": `{"inputs": {"who": {"type": "string"}, "api_token": {"type": "string"}, "pin": {"secret": true, "required": false}, "region": {"default": "x"}},
			"nodes": [
				{"id": "a", "type": "mcp-hub-log", "params": {}}, {"id": "b", "type": "mcp-gone-read"}, {"id": "c", "type": "shell"}, {"id": "d", "type": "shell"},
				{"id": "e", "type": "workflow", "params": {"workflow": "sub"}}, {"id": "f", "type": "workflow", "params": {"workflow": "${who}"}},
				{"id": "g", "type": "workflow", "params": {"workflow": {"nodes": [{"id": "x", "type": "jq"}]}}},
				{"id": "h", "type": "workflow", "params": {"workflow": "not-there"}}]}`,
		"library/sub.json":  `{"nodes": [{"id": "s", "type": "mcp-files-read-file"}, {"id": "again", "type": "workflow", "params": {"workflow": "sub"}}]}`,
		"mcp-servers.json":  `{"mcpServers": {"hub": {"command": "x", "env": {"T": "${HUB_TOKEN}", "U": "${HUB_URL:-http://x}", "V": "${env:HUB_USER}"}}, "files": {"command": "${broken"}, "other": {"command": "${OTHER}"}}}`,
		"registry.json":     `{"nodes": {"mcp-gone-read": {"interface": {"mcp_metadata": {"server": "gone", "tool": "read"}}}}}`,
		"settings.json":     `{"env": {"HUB_TOKEN": "secret"}, "vars": {"region": "eu"}}`,
		"workflows/no.json": `{}`,
	}, map[string]string{"api_token": "set"})
	want := List{
		NodeTypes: []string{"jq", "mcp-files-read-file", "mcp-gone-read", "mcp-hub-log", "shell", "workflow"},
		Servers:   []Server{{"files", true}, {"gone", false}, {"hub", true}},
		Workflows: []string{"not-there", "sub"},
		Settings: []Setting{
			{Name: "HUB_TOKEN", For: "server hub", Secret: true, Required: true, Set: true},
			{Name: "HUB_USER", For: "server hub", Secret: true, Required: true},
			{Name: "api_token", For: "input api_token", Secret: true, Required: true, Set: true},
			{Name: "pin", For: "input pin", Secret: true},
			{Name: "region", For: "input region", Set: true},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestModelsNeedKeys(t *testing.T) {
	for _, c := range []struct {
		name, params, settings string
		want                   []Setting
	}{
		{"a model with a provider", `{"model": "groq/llama"}`, `{}`, []Setting{{Name: "GROQ_API_KEY", For: "node a", Secret: true, Required: true}}},
		{"a known model", `{"model": "claude-x"}`, `{"env": {"ANTHROPIC_API_KEY": "k"}}`, []Setting{{Name: "ANTHROPIC_API_KEY", For: "node a", Secret: true, Required: true, Set: true}}},
		{"a provider", `{"model": "m", "provider": "openai"}`, `{}`, []Setting{{Name: "OPENAI_API_KEY", For: "node a", Secret: true, Required: true}}},
		{"another server", `{"model": "gpt-x"}`, `{"env": {"OPENAI_BASE_URL": "http://x"}}`, []Setting{{Name: "OPENAI_API_KEY", For: "node a", Secret: true}}},
		{"no model", `{}`, `{}`, []Setting{{Name: "llm.default_model", For: "node a", Required: true}}},
		{"a default model", `{}`, `{"llm": {"default_model": "gemini/g"}}`, []Setting{{Name: "GEMINI_API_KEY", For: "node a", Secret: true, Required: true}, {Name: "llm.default_model", For: "node a", Required: true, Set: true}}},
		{"a key of its own", `{"model": "gpt-x", "api_key": "${k}"}`, `{}`, []Setting{}},
		{"a model from a template", `{"model": "${k}"}`, `{}`, []Setting{}},
		{"no key needed", `{"model": "ollama/x"}`, `{}`, []Setting{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := of(t, map[string]string{"workflows/w.json": `{"nodes": [{"id": "a", "type": "llm", "params": ` + c.params + `}]}`, "settings.json": c.settings}, nil)
			if d := cmp.Diff(c.want, got.Settings); d != "" {
				t.Error(d)
			}
		})
	}
	got := of(t, map[string]string{"workflows/w.json": `{"nodes": [{"id": "a", "type": "agent", "params": {"prompt": "p", "use_api_key": true}}]}`}, nil)
	if d := cmp.Diff([]Setting{{Name: "ANTHROPIC_API_KEY", For: "node a", Secret: true, Required: true}}, got.Settings); d != "" {
		t.Error(d)
	}
}
