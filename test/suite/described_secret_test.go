package suite

import (
	"strings"
	"testing"
)

// TestKnownSecretsAreNotDescribed: a secret of the settings or of the environment that stands in a description, of a workflow or of
// a tool whose server was synced before the secret was known, is not shown.
func TestKnownSecretsAreNotDescribed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const inSettings, inEnv = "tulip-4711-settings", "rose-0815-environment"
	p.write("server.tools", `[{"name":"one","description":"uses `+inSettings+` and `+inEnv+`","inputSchema":{"type":"object","properties":{"a":{"type":"string","description":"`+inSettings+`"}}}}]`)
	p.must("pflow-sync", "add", "server", "--", "sh", "-c", spokenServer, "sh", "well", p.dir+"/server.tools")
	p.must("pflow-sync", "sync", "server")
	p.write("home/library/flow.json", `{"description":"with `+inSettings+` and `+inEnv+`","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","version":"1.0.0",
		"ir":{"inputs":{"a":{"type":"string","description":"such as `+inEnv+`","default":"`+inSettings+`"}},"nodes":[{"id":"n","type":"echo","purpose":"say `+inSettings+`","params":{"message":"${a}"}}],
		"outputs":{"o":{"source":"${n.echo}","description":"not `+inEnv+`"}}}}`)
	p.must("pflow-lib", "settings", "set-env", "FLOWER_TOKEN="+inSettings)
	p.env = append(p.env, "GARDEN_TOKEN="+inEnv)
	for _, line := range []string{
		"pflow-lib list", "pflow-lib list --format text", "pflow-lib list --limit 1", "pflow-lib list --tools", "pflow-lib describe flow", "pflow-lib describe flow --format text",
		"pflow-lib describe mcp-server-one", "pflow-lib search one", "pflow-lib search flow", "pflow-sync tools server", "pflow-sync tools server one", "pflow-sync show server",
	} {
		words := strings.Fields(line)
		o := p.run(words[0], words[1:]...)
		if o.exit != 0 || strings.Contains(o.stdout+o.stderr, inSettings) || strings.Contains(o.stdout+o.stderr, inEnv) || !strings.Contains(o.stdout, "<redacted>") && !strings.HasSuffix(line, "show server") {
			t.Errorf("%s: %s", line, o)
		}
	}
}
