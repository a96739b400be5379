package suite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestRename: the statistics of a workflow go on under its new name, a workflow that runs it by the old one is named, and a hint leads
// from the old name to the new one.
func TestRename(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/greet.json", chain("echo hello"))
	p.write("home/library/uses.json", `{"nodes":[{"id":"sub","type":"workflow","params":{"workflow_name":"greet"}}]}`)
	runs := func(name string) int64 {
		return gjson.Get(p.run("pflow-lib", "describe", name).stdout, "statistics.runs").Int()
	}
	p.run("pflow-exec", "run", "greet")
	p.run("pflow-exec", "run", "greet")

	o := p.run("pflow-lib", "rename", "greet", "hello")
	answer := gjson.Parse(o.stdout)
	if o.exit != 0 || answer.Get("name").Str != "hello" || answer.Get("old_name").Str != "greet" || answer.Get("saved").Raw != "true" ||
		filepath.Base(answer.Get("path").Str) != "hello.json" || answer.Get("used_by").Raw != `["uses"]` || !strings.Contains(o.stderr, "library/uses.json") {
		t.Fatalf("%s", o)
	}
	if n := runs("hello"); n != 2 {
		t.Errorf("%d runs of the new name", n)
	}
	p.run("pflow-exec", "run", "hello")
	if n := runs("hello"); n != 3 {
		t.Errorf("%d runs of the new name", n)
	}
	o = p.run("pflow-exec", "run", "greet")
	if hint := gjson.Get(o.stdout, "error.suggestions.1").Str; o.exit != 2 || !strings.Contains(hint, "pflow-exec run hello") || !strings.Contains(o.stderr, hint) {
		t.Errorf("the old name: %s", o)
	}
	p.write("home/library/greet.json", chain("echo other"))
	if n := runs("greet"); n != 0 {
		t.Errorf("%d runs of another workflow with the old name", n)
	}
	o = p.run("pflow-lib", "--format", "text", "rename", "hello", "welcome")
	if o.exit != 0 || !strings.Contains(o.stdout, filepath.Join("library", "welcome.json")) || !strings.Contains(o.stdout, "pflow-exec run welcome") {
		t.Errorf("for people: %s", o)
	}
}

// TestSaveSaysWhere: for people, save names the file and how to run it; the old name leads to the new one, for tools without a command.
func TestSaveSaysWhere(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("sketch", chain("echo hello"))
	o := p.run("pflow-lib", "--format", "text", "save", "sketch", "greet")
	if o.exit != 0 || !strings.Contains(o.stdout, filepath.Join("library", "greet.json")) || !strings.Contains(o.stdout, "pflow-exec run greet") {
		t.Errorf("%s", o)
	}
	for _, command := range []string{"pflow-exec run sketch", "pflow-exec start sketch", "pflow-lib show sketch", "pflow-lib check sketch", "pflow-lib describe sketch", "pflow-lib path sketch"} {
		o := p.run(strings.Fields(command)[0], strings.Fields(command)[1:]...)
		hints := gjson.Get(o.stdout, "error.suggestions").Array()
		if o.exit != 2 || len(hints) != 2 || !strings.Contains(hints[0].Str, `"sketch"`) || !strings.HasSuffix(hints[1].Str, "pflow-exec run greet") {
			t.Errorf("%s: %s", command, o)
		}
	}
	p.must("pflow-exec", "run", "greet")
	if hint := gjson.Get(p.run("pflow-exec", "run", "--format", "json", "--hints", "tools", "sketch").stdout, "error.suggestions.0").Str; !strings.Contains(hint, `"greet"`) || strings.Contains(hint, "pflow-") {
		t.Errorf("the hint for tools: %s", hint)
	}
}
