package redact

import (
	"slices"
	"strings"
	"testing"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want []string }{
		{[]string{"npx", "mcp-remote", "https://x.example/mcp", "--header", "Authorization: Bearer SEC"}, []string{"npx", "mcp-remote", "https://x.example/mcp", "--header", "Authorization: Bearer <redacted>"}},
		{[]string{"--header", "Authorization: Bearer ${TOKEN}"}, []string{"--header", "Authorization: Bearer ${TOKEN}"}},
		{[]string{"--header", "Authorization:${AUTH_HEADER}"}, []string{"--header", "Authorization:${AUTH_HEADER}"}},
		{[]string{"--header", "X-Api-Key:SEC"}, []string{"--header", "X-Api-Key:<redacted>"}},
		{[]string{"--header=X-Trace: SEC"}, []string{"--header=X-Trace: <redacted>"}},
		{[]string{"-H", "X-Auth:SEC", "-HX-Key: SEC"}, []string{"-H", "X-Auth:<redacted>", "-HX-Key: <redacted>"}},
		{[]string{"mcp-proxy", "--headers", "Authorization", "Bearer SEC", "-e", "API_TOKEN", "SEC"}, []string{"mcp-proxy", "--headers", "Authorization", "Bearer <redacted>", "-e", "API_TOKEN", "<redacted>"}},
		{[]string{"run", "-i", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN=SEC", "ghcr.io/github/mcp"}, []string{"run", "-i", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN=<redacted>", "ghcr.io/github/mcp"}},
		{[]string{"docker", "run", "-e", "GITHUB_TOKEN", "ghcr.io/github/mcp"}, []string{"docker", "run", "-e", "GITHUB_TOKEN", "ghcr.io/github/mcp"}},
		{[]string{"--env=API_KEY=SEC", "--env", "MODE=SEC", "-eMODE=SEC"}, []string{"--env=API_KEY=<redacted>", "--env", "MODE=<redacted>", "-eMODE=<redacted>"}},
		{[]string{"--pat", "SEC", "--pass=SEC", "--key", "SEC", "-auth", "SEC", "--api-key", "-SEC"}, []string{"--pat", "<redacted>", "--pass=<redacted>", "--key", "<redacted>", "-auth", "<redacted>", "--api-key", "<redacted>"}},
		{[]string{"--token", "--verbose", "--author", "me", "--max-tokens", "5"}, []string{"--token", "--verbose", "--author", "me", "--max-tokens", "5"}},
		{[]string{"sh", "-c", "TOKEN=SEC exec npx x --token SEC"}, []string{"sh", "-c", "TOKEN=<redacted> exec npx x --token <redacted>"}},
		{[]string{"sh", "-c", `curl -H "Authorization: Bearer SEC" https://x/ && DB_PASS='S E C' x -e "A=SEC" --header 'X-A: SEC'`}, []string{"sh", "-c", `curl -H "Authorization: Bearer <redacted>" https://x/ && DB_PASS='<redacted>' x -e "A=<redacted>" --header 'X-A: <redacted>'`}},
		{[]string{`bash -lc "GITLAB_PAT=SEC npx y"`}, []string{`bash -lc "GITLAB_PAT=<redacted> npx y"`}},
		{[]string{`--config={"apiKey":"SEC","region":"eu"}`}, []string{`--config={"apiKey":"<redacted>","region":"eu"}`}},
		{[]string{`--config`, `{"h": {"Authorization": "Bearer SEC", "region": "eu"}}`}, []string{`--config`, `{"h": {"Authorization": "Bearer <redacted>", "region": "eu"}}`}},
		{[]string{"Bearer SEC", "PASSWORD=a;b&c d"}, []string{"Bearer <redacted>", "PASSWORD=<redacted>"}},
		{[]string{"https://hooks.slack.com/services/T0/B0/SEC", "--url=https://x/mcp?key=SEC&a=b"}, []string{"https://hooks.slack.com/<redacted>", "--url=https://x/mcp?key=<redacted>&a=b"}},
		{[]string{"x${API_TOKEN:-SEC}y", "${KIND:-text}"}, []string{"x${API_TOKEN:-<redacted>}y", "${KIND:-text}"}},
		{[]string{"--token", "${T:-SEC}", "-y", "@scope/server-token@latest", "/data/my-server-2025-03-26"}, []string{"--token", "${T:-<redacted>}", "-y", "@scope/server-token@latest", "/data/my-server-2025-03-26"}},
	} {
		if got := Command(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

// Another text, such as an error, with a credential of a command line is redacted too.
func TestAddCommand(t *testing.T) {
	t.Parallel()
	r := New()
	r.AddCommand([]string{"npx", "--header", "Authorization: Bearer s3cret-1", "-e", "MODE=production", "--pat", "s3cret-2", "sh", "-c", "DB_PASS='s3cret-3' x", "--key", "/etc/x.key"})
	r.AddURL("https://hooks.example.com/T0/s3cret-4")
	const text = "production /etc/x.key "
	if got := r.Text(text + "s3cret-1 s3cret-2 s3cret-3 T0/s3cret-4"); got != text+"<redacted> <redacted> <redacted> <redacted>" {
		t.Errorf("got %q", got)
	}
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"": "", "SEC": "<redacted>", "${A}": "${A}", "${env:A}": "${env:A}", "Bearer ${A}": "Bearer ${A}", "Bearer SEC": "Bearer <redacted>", "a${A}b": "<redacted>${A}<redacted>",
		"${A:-SEC}": "${A:-<redacted>}", "${A": "<redacted>", "${a b}": "<redacted>", "$A": "<redacted>", `{"Authorization":"Bearer SEC"}`: "<redacted>",
	} {
		if got := Literal(value); got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"https://x.example/mcp", ""}, {"https://x.example/api/v2/my-long-server-name-2025-03-26/mcp", ""}, {"https://${HOST}/${ID}/mcp", ""}, {"https://x/?author=a&n=1", ""},
		{"https://u:SEC@x/mcp?api_key=SEC&sig=SEC&a=b", "https://<redacted>@x/mcp?api_key=<redacted>&sig=<redacted>&a=b"},
		{"https://hooks.slack.com/services/T0/B0/SEC", "https://hooks.slack.com/<redacted>"}, {"https://discord.com/api/webhooks/1/SEC?wait=1", "https://discord.com/api/webhooks/<redacted>?wait=1"},
		{"https://mcp.zapier.com/api/mcp/s/NjQ0ODk4YzctZGVm/mcp", "https://mcp.zapier.com/api/mcp/s/<redacted>/mcp"},
		{"https://x/1b4e28ba-2fa1-11d2-883f-0016d3cca427/sse", "https://x/<redacted>/sse"}, {"https://api.telegram.org/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "https://api.telegram.org/<redacted>"},
		{"https://x/mcp?key=${KEY}", ""}, {"https://x/${MCP_TOKEN:-SEC}", "https://x/${MCP_TOKEN:-<redacted>}"},
	} {
		want := c[1]
		if want == "" {
			want = c[0]
		}
		if got := URL(c[0]); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func FuzzCommand(f *testing.F) {
	f.Add("sh -c \"A=b --token 'x\" {\"a\": \"${x:-y}\"} https://hooks.x/y")
	f.Fuzz(func(t *testing.T, text string) {
		_ = Command([]string{text, text})
		_ = Command(strings.Fields(text))
		_, _ = Literal(text), URL(text)
	})
}
