package suite

import (
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestStatisticsOfADraft: the runs of a draft count as its own, not as those of the saved workflow that it becomes.
func TestStatisticsOfADraft(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("greet", chain("echo hello"))
	p.draft("fails", chain("exit 1"))
	c := p.connect("pflow-serve")
	for _, call := range []string{`{"name":"greet"}`, `{"name":"greet"}`, `{"name":"fails"}`} {
		c.call("execute", call)
	}
	p.run("pflow-exec", "run", "home/workflows/greet.json") // a file, not the draft
	describe := func(name string) gjson.Result {
		a, _ := c.call("describe_workflow", `{"name":"`+name+`"}`)
		return gjson.Parse(sent(t, a)).Get("statistics")
	}
	if s := describe("greet"); s.Get("runs").Int() != 2 || s.Get("success_rate").Raw != "1" || s.Get("p95_duration_ms").Type != gjson.Number || s.Get("last_status").Str != "completed" {
		t.Errorf("%s", s)
	}
	if s := describe("fails"); s.Get("failures").Int() != 1 || s.Get("success_rate").Raw != "0" {
		t.Errorf("%s", s)
	}
	if a, failed := c.call("save_to_library", `{"draft_name":"greet","final_name":"greet","description":"Greet"}`); failed {
		t.Errorf("%v", a)
	}
	if s := describe("greet"); s.Get("runs").Int() != 0 || s.Get("success_rate").Type != gjson.Null || !s.Get("success_rate").Exists() {
		t.Errorf("after save: %s", s)
	}
	c.call("execute", `{"name":"greet"}`)
	if s := describe("greet"); s.Get("runs").Int() != 1 {
		t.Errorf("of the saved workflow: %s", s)
	}
	c.leave()
}

// TestBrokenStatisticsAreAWarning: what else is known of the workflow is described.
func TestBrokenStatisticsAreAWarning(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"torn": `{"runs`, "large": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/library/good.json", chain("echo hello"))
			path := p.write("home/stats/good.json", content)
			if content == "" {
				if err := os.Truncate(path, 64<<20+1); err != nil {
					t.Fatal(err)
				}
			}
			o := p.run("pflow-lib", "describe", "good")
			warning := gjson.Get(o.stdout, "warnings.0")
			if o.exit != 0 || gjson.Get(o.stdout, "nodes.#").Int() != 1 || warning.Get("type").Str != "validation_error" || !strings.Contains(warning.Raw, "good.json") {
				t.Errorf("%s", o)
			}
		})
	}
}
