package suitetools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestBrowseArgumentsAreFlags(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"type":"--help"}`:                            "--max-bytes=8192 --type=--help",
		`{"server":"github","detail":"brief"}`:         "--max-bytes=8192 --server=github --detail=brief",
		`{"limit":0,"detail":"full"}`:                  "--max-bytes=0 --limit=0 --detail=full",
		`{"limit":3,"cursor":"Ab-_"}`:                  "--max-bytes=8192 --limit=3 --cursor=Ab-_",
		`{"query":"a","cursor":"--x","limit":0}`:       "--max-bytes=0 --limit=0 --cursor=--x -- a",
		`{"include_workflows":false,"query":"--type"}`: "--max-bytes=8192 --no-workflows -- --type",
	} {
		f := newFakes(t)
		f.Program("pflow-lib", answering)
		if a, r := f.call(f.front(), "browse_components", arguments); r.IsError {
			t.Errorf("%v", a)
		}
		if got := f.Calls(); !slices.Equal(got, []string{"pflow-lib --quiet search --format json " + want}) {
			t.Errorf("%s calls %q, not %q", arguments, got, want)
		}
	}
}

// TestBrowseIsSummarized: the text names what is on the page and how to go on, and stays short however long the names are.
func TestBrowseIsSummarized(t *testing.T) {
	many := `{"nodes":[` + strings.TrimSuffix(strings.Repeat(`{"type":"mcp-server-with-a-name-tool"},`, 70), ",") + `],"total":99,"more":29,"next_cursor":"c"}`
	long := `{"nodes":[{"type":"` + strings.Repeat("x", 3000) + `"}],"total":1}`
	wide := `{"nodes":[` + strings.TrimSuffix(strings.Repeat(`{"type":"a","inputs":[{"name":"`+strings.Repeat("x", 500)+`"}]},`, 8), ",") + `],"total":8}`
	for _, c := range []struct {
		document string
		most     int
		facts    []string
	}{
		{`{"nodes":[{"type":"http"},{"type":"shell"}],"workflows":[{"name":"deploy"}],"total":3}`, 80, []string{"2 node types", "http", "shell", "1 workflow", "deploy"}},
		{`{"nodes":[],"workflows":[],"total":0,"suggestions":["try this"],"warnings":[{"message":"a file is corrupt"}]}`, 80, []string{"try this", "a file is corrupt"}},
		{many, 500, []string{"70 node types", "29", "99", "next_cursor"}},
		{long, 500, []string{"1 node type"}},
		{`{"nodes":[{"type":"http","inputs":[{"name":"url","type":"str","required":true},{"name":"body","type":"any"}],"outputs":[{"name":"status"},{"name":"error"}]},{"type":"shell"}],"total":2}`,
			120, []string{"http(url str, body? any) -> status, error"}},
		{`{"nodes":[{"type":"read-file","inputs":[{"name":"file_path","type":"str","required":true,"description":"the file"}]}],"total":1}`,
			80, []string{"read-file(file_path str)"}},
		{wide, 500 + maxInterfaces, []string{"8 node types", "x?"}},
	} {
		text := browsed(json.RawMessage(c.document))
		if len(text) > c.most {
			t.Errorf("%d bytes: %s", len(text), text)
		}
		for _, fact := range c.facts {
			if !strings.Contains(text, fact) {
				t.Errorf("%q is not in %q", fact, text)
			}
		}
	}
}
