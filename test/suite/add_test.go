package suite

import (
	"testing"

	"github.com/tidwall/gjson"
)

// A server is replaced only on purpose; the same one can be added again.
func TestAddKeepsAServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("pflow-sync", "add", "s", "--env", "A=1", "--", "pflow-serve")
	for name, c := range map[string]struct {
		args []string
		exit int
		is   string // the type of the error
	}{
		"the same":        {[]string{"s", "--env", "A=1", "--", "pflow-serve"}, 0, ""},
		"another command": {[]string{"s", "--", "pflow-serve"}, 2, "already_exists"},
		"in a file":       {[]string{p.write("both.json", `{"new":{"command":"pflow-serve"},"s":{"command":"false"}}`)}, 2, "already_exists"},
	} {
		before := p.read("home/mcp-servers.json")
		o := p.run("pflow-sync", append([]string{"add"}, c.args...)...)
		if o.exit != c.exit || gjson.Get(o.stdout, "error.type").Str != c.is || p.read("home/mcp-servers.json") != before {
			t.Errorf("%s: %d, %s", name, o.exit, o.stdout)
		}
	}
	answer := p.must("pflow-sync", "add", "--force", p.dir+"/both.json")
	if gjson.Get(answer, "added").Raw != `["new"]` || gjson.Get(answer, "replaced").Raw != `["s"]` {
		t.Error(answer)
	}
}

// Flags that would have no effect are refused.
func TestMaxBytesWithoutEffect(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", chain("true"))
	p.must("pflow-exec", "run", "w.json", "--quiet")
	for _, args := range [][]string{{"watch", "--since", "r0"}, {"diff", "last", "last"}} {
		if o := p.run("pflow-exec", append(args, "--max-bytes", "2000")...); o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "usage_error" {
			t.Errorf("%s: %d, %s", args, o.exit, o.stdout)
		}
	}
}

// Nothing in the answers for a shell, not even in events, is written for tools.
func TestARefusalForAShell(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, args := range [][]string{{"run", "--name", "nothing"}, {"run", "--name", "nothing", "--format", "json"}} {
		o := p.run("pflow-exec", args...)
		f := gjson.Get(o.stdout, "error")
		if o.exit != 2 || f.Get("type").Str != "not_found" || f.Get("tool_suggestions").Exists() || !f.Get("suggestions.0").Exists() {
			t.Errorf("%s: %d, %s", args, o.exit, o.stdout)
		}
	}
}
