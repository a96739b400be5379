package suite

import (
	"encoding/json"
	"strings"
	"testing"
)

// The array has each workflow that can be read, and standard error names the others. An input with a value in the settings or in the
// environment is not required.
func TestListTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/good.json", `{"inputs":{"token":{"type":"string","secret":true},"city":{"type":"string"},"DAY":{"type":"string"},"count":{"type":"integer"}},"nodes":[{"id":"a","type":"echo"}]}`)
	p.write("home/library/full.json", `{"inputs":{"token":{"type":"string"}},"nodes":[{"id":"a","type":"echo"}]}`)
	p.write("home/library/broken.json", `{"nodes":[`)
	p.write("home/workflows/draft.json", `{"nodes":[{"id":"a","type":"echo"}]}`)
	p.write("home/settings.json", `{"env":{"token":"canary"},"vars":{"city":"Oslo"}}`)
	p.env = append(p.env, "DAY=Monday")
	for _, format := range []string{"text", "json", "ndjson"} {
		r := p.run("pflow-lib", "list", "--tools", "--format", format)
		if r.exit != 0 || !strings.Contains(r.stderr, "broken") || strings.Contains(r.stdout+r.stderr, "canary") {
			t.Fatalf("%s: %v", format, r)
		}
		var tools []struct {
			ID     string
			Schema struct {
				Properties map[string]any
				Required   []string
			} `json:"inputSchema"`
		}
		if err := json.Unmarshal([]byte(r.stdout), &tools); err != nil {
			t.Fatal(err)
		}
		if len(tools) != 2 || tools[0].ID != "full" || tools[1].ID != "good" {
			t.Fatalf("%+v", tools)
		}
		if got := tools[0].Schema.Required; len(got) != 0 {
			t.Error(got)
		}
		if got := strings.Join(tools[1].Schema.Required, " "); got != "count" || len(tools[1].Schema.Properties) != 4 {
			t.Errorf("%+v", tools[1])
		}
	}
	for _, arg := range []string{"good", "--drafts", "--limit=1", "--cursor=x", "--max-bytes=8192"} {
		if r := p.run("pflow-lib", "list", "--tools", arg); r.exit != 2 {
			t.Errorf("%s: %v", arg, r)
		}
	}
}
