package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// ran returns the nodes of a stream that completed, in their order.
func ran(stream string) string {
	var nodes []string
	for line := range strings.Lines(stream) {
		if e := gjson.Parse(line); e.Get("event").Str == "node_completed" {
			nodes = append(nodes, e.Get("node").Str)
		}
	}
	return strings.Join(nodes, " ")
}

// step is a step of a Markdown file: a code step in Python, or an echo step that outputs its own name.
func step(id, code string, fields ...string) string {
	text := "### " + id + "\n\nA step.\n\n- type: echo\n- message: " + id + "\n"
	if code != "" {
		text = "### " + id + "\n\nA step.\n\n- type: code\n"
	}
	for _, f := range fields {
		text += "- " + f + "\n"
	}
	if code != "" {
		text += "\n```python code\nresult: int = 1\n" + code + "\n```\n"
	}
	return text + "\n"
}

// TestMarkdownBranches runs steps whose code names the step that follows.
func TestMarkdownBranches(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	end := "next: end"
	for name, c := range map[string]struct {
		steps  []string
		exit   int
		ran    string
		status string
	}{
		"a literal":                       {[]string{step("a", "next: str = 'c'"), step("b", "", end), step("c", "", end)}, 0, "a c", "completed"},
		"a literal without a type":        {[]string{step("a", "next = 'c'"), step("b", "", end), step("c", "", end)}, 0, "a c", "completed"},
		"an untaken if":                   {[]string{step("a", "if result > 1: next = 'c'"), step("b", "", end), step("c", "", end)}, 0, "a b", "completed"},
		"one of the steps below":          {[]string{step("a", "next = 'b' if result > 1 else 'c'"), step("b", "", "next: d"), step("c", "", "next: d"), step("d", "")}, 0, "a c d", "completed"},
		"the end":                         {[]string{step("a", "next = 'end'"), step("b", "")}, 0, "a", "completed"},
		"next: end and a literal":         {[]string{step("a", "if result > 1: next = 'c'", end), step("c", "", end)}, 0, "a", "completed"},
		"a literal beside a list":         {[]string{step("a", "if result: next = 'd'", "next: b, c"), step("b", "", end), step("c", "", end), step("d", "", end)}, 0, "a d", "completed"},
		"a list":                          {[]string{step("a", "x = 'c'\nnext = x", "next: b, c"), step("b", "", end), step("c", "", end)}, 0, "a c", "completed"},
		"a step that is not listed":       {[]string{step("a", "x = 'd'\nnext = x", "next: b, c"), step("b", "", "next: d"), step("c", "", end), step("d", "")}, 1, "", "failed"},
		"the end, though not listed":      {[]string{step("a", "x = 'end'\nnext = x", "next: b, c"), step("b", "", end), step("c", "", end)}, 0, "a", "completed"},
		"not listed, but an error edge":   {[]string{step("a", "x = 'e'\nnext = x", "next: b, c", "on-error: d"), step("b", "", end), step("c", "", end), step("d", "", end)}, 1, "", "failed"},
		"no default among the actions":    {[]string{step("a", "if result > 1: next = 'retry'", "next: {retry: c}"), step("b", ""), step("c", "", end)}, 2, "", ""},
		"default ends":                    {[]string{step("a", "if result > 1: next = 'retry'", "next: {default: end, retry: b}"), step("b", "", end)}, 0, "a", "completed"},
		"an unknown step":                 {[]string{step("a", "next = 'nowhere'"), step("b", "")}, 2, "", ""},
		"a value":                         {[]string{step("a", "x = 'b'\nnext = x"), step("b", "")}, 2, "", ""},
		"a target that falls through":     {[]string{step("a", "next = 'c'"), step("b", "", end), step("c", ""), step("d", "")}, 2, "", ""},
		"a step that falls into a target": {[]string{step("a", "next = 'c'"), step("b", ""), step("c", "", end)}, 2, "", ""},
		"a function's own variable":       {[]string{step("a", "def f():\n    next = 'c'\n    return next\nf()"), step("b", "")}, 0, "a b", "completed"},
		"strings and comments":            {[]string{step("a", "s = '''\nnext = 'c'\n''' # next = 'd'"), step("b", "")}, 0, "a b", "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			file := p.write("home/workflows/w.pflow.md", "# Steps\n\n## Steps\n\n"+strings.Join(c.steps, ""))
			o := p.run("pflow-exec", "run", file, "--format", "ndjson")
			if o.exit != c.exit || c.exit == 0 && ran(o.stdout) != c.ran {
				t.Fatalf("ran %q, want %q\n%s", ran(o.stdout), c.ran, o)
			}
			lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
			if last := gjson.Parse(lines[len(lines)-1]); last.Get("status").Str != c.status {
				t.Errorf("status %s, want %s\n%s", last.Get("status"), c.status, o)
			}
			if c.exit == 2 {
				return
			}
			// The other form has the same edges.
			o = p.run("pflow-lib", "show", "w", "--as", "json")
			if o.exit != 0 {
				t.Fatal(o)
			}
			again := p.run("pflow-exec", "run", p.write("again.json", o.stdout), "--format", "ndjson")
			if again.exit != c.exit || c.exit == 0 && ran(again.stdout) != c.ran {
				t.Errorf("in JSON ran %q\n%s", ran(again.stdout), o)
			}
		})
	}
}

// TestSkippedTargets checks which nodes of a list without edges do not run: those that code could have named, and did not.
func TestSkippedTargets(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	for next, want := range map[string]string{"low": "pick low report", "high": "pick high report", "": "pick middle report", "end": "pick"} {
		t.Run("next "+next, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			file := p.write("w.json", `{"nodes": [
				{"id": "pick", "type": "code", "params": {"code": "result: int = 1\nx = '`+next+`'\nif x == 'low': next = 'low'\nelif x == 'high': next = 'high'\nelif x == 'end': next = 'end'"}},
				{"id": "middle", "type": "echo"}, {"id": "low", "type": "echo"}, {"id": "high", "type": "echo"}, {"id": "report", "type": "echo"}]}`)
			o := p.run("pflow-exec", "run", file, "--format", "ndjson")
			if o.exit != 0 || ran(o.stdout) != want {
				t.Errorf("ran %q, want %q\n%s", ran(o.stdout), want, o)
			}
			graph := p.run("pflow-lib", "graph", file).stdout
			for _, edge := range []string{"after pick (low)", "after pick (high)", "after middle, low, high"} {
				if !strings.Contains(graph, edge) {
					t.Errorf("%q is not in the graph:\n%s", edge, graph)
				}
			}
		})
	}
}

// TestResumeAfterAnUntakenAction runs a node again whose action no edge took, once the workflow has an edge for it. Nodes
// before it are reused.
func TestResumeAfterAnUntakenAction(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	p := newPlace(t)
	workflow := func(more string) string {
		return `{"nodes": [{"id": "first", "type": "echo"},
			{"id": "pick", "type": "code", "params": {"inputs": {"x": "other"}, "code": "x: str\nresult: int = 1\nnext = x"}},
			{"id": "one", "type": "echo"}, {"id": "other", "type": "echo"}],
			"edges": [{"from": "first", "to": "pick"}, {"from": "pick", "to": "one", "action": "one"}, {"from": "one", "to": "other"}` + more + `]}`
	}
	first := p.run("pflow-exec", "run", p.write("w.json", workflow("")), "--format", "ndjson")
	if first.exit != 1 || ran(first.stdout) != "first" {
		t.Fatal(first)
	}
	again := p.run("pflow-exec", "run", p.write("w.json", workflow(`, {"from": "pick", "to": "other", "action": "other"}`)), "--resume", "last", "--format", "ndjson")
	if again.exit != 0 || ran(again.stdout) != "pick other" {
		t.Fatal(again)
	}
	// Without the edge, the action of a node that completed is not taken either.
	third := p.run("pflow-exec", "run", p.write("w.json", workflow("")), "--resume", "last", "--format", "ndjson")
	if third.exit != 1 || ran(third.stdout) != "" {
		t.Fatal(third)
	}
}

// TestNote checks that the event of a search that finds nothing says why it did not fail, and that a resume after an error
// edge was added runs it again.
func TestNote(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	nodes := `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo x | grep -q ERROR"}}, {"id": "b", "type": "shell", "params": {"command": "test -e ok"}}, {"id": "c", "type": "echo"}], "edges": [{"from": "a", "to": "b"}`
	o := p.run("pflow-exec", "run", p.write("w.json", nodes+`, {"from": "b", "to": "c"}]}`), "--format", "ndjson")
	note := ""
	for line := range strings.Lines(o.stdout) {
		if e := gjson.Parse(line); e.Get("event").Str == "node_completed" && e.Get("node").Str == "a" {
			note = e.Get("note").Str
		}
	}
	if o.exit != 1 || !strings.Contains(note, "grep") || !strings.Contains(note, "1") {
		t.Errorf("note %q\n%s", note, o)
	}
	check := p.run("pflow-lib", "check", "w.json")
	if warning := gjson.Get(check.stdout, "warnings.0"); warning.Get("node").Str != "a" || warning.Get("path").Str != "nodes[0].params.command" {
		t.Errorf("the check says nothing\n%s", check)
	}
	p.write("ok", "")
	o = p.run("pflow-exec", "run", p.write("w.json", nodes+`, {"from": "a", "to": "c", "action": "error"}]}`), "--resume", "last", "--format", "ndjson")
	if o.exit != 0 || ran(o.stdout) != "c" || !strings.Contains(o.stdout, `"status":"degraded"`) {
		t.Errorf("an error edge was added\n%s", o)
	}
	if c := p.run("pflow-lib", "check", "w.json"); strings.Contains(c.stdout, "nothing asks") {
		t.Error(c)
	}
}

// TestBranchesOfCodeInAFile runs a step whose code is in another file, and checks what that names.
func TestBranchesOfCodeInAFile(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	p := newPlace(t)
	end := "next: end"
	file := p.write("w.pflow.md", "# W\n\n## Steps\n\n### a\n\nA step.\n\n- type: code\n- code: ./pick.py\n\n"+step("b", "", end)+step("c", "", end))
	p.write("pick.py", "result: int = 1\nnext = 'c'\n")
	if o := p.run("pflow-exec", "run", file, "--format", "ndjson"); o.exit != 0 || ran(o.stdout) != "a c" {
		t.Error(o)
	}
	p.write("pick.py", "result: int = 1\n")
	if o := p.run("pflow-lib", "check", file); o.exit != 2 || gjson.Get(o.stdout, "error.path").Str != "nodes[2]" {
		t.Errorf("nothing leads to c\n%s", o)
	}
	p.write("pick.py", "result: int = 1\nx = 'c'\nnext = x\n")
	o := p.run("pflow-lib", "check", file)
	if f := gjson.Get(o.stdout, "error"); o.exit != 2 || !strings.HasSuffix(f.Get("file").Str, "pick.py") || f.Get("line").Int() != 3 {
		t.Errorf("a value that no list has\n%s", o)
	}
}
