package suite

import (
	"os"
	"testing"

	"github.com/tidwall/gjson"
)

// TestServersThatClientsHaveAddedAreTakenOver: the clients write their configurations themselves. Their paths are in variables.
func TestServersThatClientsHaveAddedAreTakenOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		variable, client string
		stdio, http      []string
	}{
		{"CASE_CLAUDE", "claude-code",
			[]string{"mcp", "add", "--scope", "user", "loc", "--env", "KEY=value", "--", "npx", "-y", "srv"},
			[]string{"mcp", "add", "--scope", "local", "--transport", "http", "web", "https://example.com/mcp", "--header", "X-Kind: ${KIND:-text}"}},
		{"CASE_CODEX", "codex",
			[]string{"mcp", "add", "loc", "--env", "KEY=value", "--", "npx", "-y", "srv"},
			[]string{"mcp", "add", "web", "--url", "https://example.com/mcp", "--bearer-token-env-var", "DOCS_TOKEN"}},
		{"CASE_GEMINI", "gemini",
			[]string{"mcp", "add", "--scope", "user", "-e=KEY=value", "loc", "npx", "-y", "srv"},
			[]string{"mcp", "add", "--scope", "user", "--transport", "http", "--header", "X-Kind: $KIND", "web", "https://example.com/mcp"}},
	} {
		t.Run(c.client, func(t *testing.T) {
			program := os.Getenv(c.variable)
			if program == "" {
				t.Skip(c.variable + " is not set")
			}
			p := newPlace(t)
			for _, args := range [][]string{c.stdio, c.http} {
				if o := p.run(program, args...); o.exit != 0 {
					t.Fatal(o)
				}
			}
			p.must("pflow-sync", "import", "loc", "web", "--from", c.client)
			servers := gjson.Get(p.read("home/mcp-servers.json"), "mcpServers")
			headers := map[string]string{"claude-code": `{"X-Kind":"${KIND:-text}"}`, "codex": `{"Authorization":"Bearer ${DOCS_TOKEN}"}`, "gemini": `{"X-Kind":"${KIND}"}`}
			for path, want := range map[string]string{
				"loc": `{"args":["-y","srv"],"command":"npx","env":{"KEY":"value"},"type":"stdio"}`, "web.url": `"https://example.com/mcp"`, "web.headers": headers[c.client],
			} {
				if got := servers.Get(path + "|@ugly").Raw; got != want {
					t.Errorf("%s: got %s, want %s", path, got, want)
				}
			}
		})
	}
}
