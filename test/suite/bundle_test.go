package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// A saved workflow has everything that it needs, and runs from any folder.
func TestSaveABundle(t *testing.T) {
	t.Parallel()
	for name, text := range referring {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.parts("home/workflows")
			p.write("home/workflows/"+name, text)
			saved := gjson.Parse(p.must("pflow-lib", "save", "flow", "kept", "--description", "A bundle"))
			path := filepath.Join(p.home, "library", "kept", strings.Replace(name, "flow", "kept", 1))
			if got := saved.Get("path").Str; got != path {
				t.Errorf("path %s, want %s", got, path)
			}
			if got := saved.Get("files").Raw; got != `["kids/child.pflow.md","parts/more.py","parts/say.sh"]` {
				t.Errorf("files %s", got)
			}
			if _, err := os.Stat(filepath.Join(p.home, "workflows", name)); err == nil {
				t.Error("the draft is still there")
			}
			if p.read("home/workflows/parts/say.sh") == "" {
				t.Error("a file that the draft refers to is gone")
			}
			if err := os.RemoveAll(filepath.Join(p.home, "workflows")); err != nil {
				t.Fatal(err)
			}
			elsewhere := filepath.Dir(p.write("elsewhere/x", ""))
			if got := p.must("pflow-exec", "run", "kept", "-C", elsewhere, "--print", "text"); got != "hello Ada, more\n" {
				t.Errorf("it prints %s", got)
			}
			where := gjson.Parse(p.must("pflow-lib", "path", "kept"))
			if where.Get("path").Str != path || where.Get("files").Raw != saved.Get("files").Raw {
				t.Errorf("path: %s", where.Raw)
			}
			file, err := os.ReadFile(path)
			if shown := p.must("pflow-lib", "show", "kept"); err != nil || shown != string(file) {
				t.Errorf("%v, show: %s", err, shown)
			}
			if o := p.fed(string(file), "pflow-exec", "run", "-"); o.exit != 2 || !strings.Contains(o.stdout, "child.pflow.md") {
				t.Errorf("from standard input: %s", o)
			}
			if list := p.must("pflow-lib", "list"); !strings.Contains(list, `"name":"kept","description":"A bundle","saved":true`) || strings.Count(list, "\n") != 1 {
				t.Errorf("list: %s", list)
			}
			if o := p.run("pflow-lib", "describe", "kept"); o.exit != 0 || gjson.Get(o.stdout, "statistics.runs").Int() != 1 {
				t.Error(o)
			}
			if o := p.run("pflow-lib", "remove", "kept"); o.exit != 0 {
				t.Error(o)
			}
			if left, err := os.ReadDir(filepath.Join(p.home, "library")); err != nil || len(left) != 0 {
				t.Errorf("removed, there is %v %v", left, err)
			}
		})
	}
}

// What cannot be bundled is named.
func TestNotBundled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("named", `{"nodes":[{"id":"a","type":"echo"}]}`)
	p.write("abs.json", `{"nodes":[{"id":"a","type":"echo"}]}`)
	p.draft("flow", `{"inputs":{"which":{"default":"x.json"}},"nodes":[
		{"id":"template","type":"workflow","params":{"workflow":"${which}"}},
		{"id":"absolute","type":"workflow","params":{"workflow":"`+p.dir+`/abs.json"}},
		{"id":"draft","type":"workflow","params":{"workflow":"named"}},
		{"id":"program","type":"shell","params":{"command":"./program.sh"}}]}`)
	o := p.run("pflow-lib", "save", "flow", "flow")
	var nodes []string
	for _, f := range gjson.Get(o.stdout, "not_bundled").Array() {
		nodes = append(nodes, f.Get("node").Str)
	}
	slices.Sort(nodes)
	if o.exit != 0 || strings.Join(nodes, " ") != "absolute draft program template" || strings.Count(o.stderr, "warning: ") < 4 {
		t.Error(o)
	}
	// What is not below the folder of the draft, or would have its place, is refused, and the draft stays.
	p.write("home/out.txt", "out")
	p.draft("out", `{"nodes":[{"id":"a","type":"shell","params":{"command":"cat","stdin":"../out.txt"}}]}`)
	p.draft("own", `{"nodes":[{"id":"a","type":"workflow","params":{"workflow":"./named.json"}}]}`)
	for _, args := range [][]string{{"out", "kept"}, {"own", "named"}} {
		if o := p.run("pflow-lib", append([]string{"save"}, args...)...); o.exit != 2 || p.read("home/workflows/"+args[0]+".json") == "" {
			t.Errorf("%s: %s", args, o)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(p.home, "library")); len(left) != 1 {
		t.Errorf("the library has %v", left)
	}
}

// --force replaces a bundle by a file, a file by a bundle, and a bundle by another.
func TestReplaceABundle(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for i, c := range []struct{ flow, want string }{
		{`{"nodes":[{"id":"a","type":"shell","params":{"command":"./a.sh"}}]}`, "from a file 0\n"},
		{`{"nodes":[{"id":"a","type":"shell","params":{"command":"echo alone"}}]}`, "alone\n"},
		{`{"nodes":[{"id":"a","type":"shell","params":{"command":"./a.sh"}}]}`, "from a file 2\n"},
		{`{"nodes":[{"id":"a","type":"shell","params":{"command":"./a.sh"}}]}`, "from a file 3\n"},
		{"# T\n\n## Steps\n\n### a\n\nA.\n\n- type: shell\n- command: ./a.sh\n", "from a file 4\n"},
		{"# T\n\n## Steps\n\n### a\n\nA.\n\n- type: shell\n- command: echo alone\n", "alone\n"},
	} {
		ending := ".json"
		if c.flow[0] == '#' {
			ending = ".pflow.md"
		}
		p.write("home/workflows/d"+ending, c.flow)
		p.write("home/workflows/a.sh", fmt.Sprintf("echo from a file %d\n", i))
		if i > 0 {
			if o := p.run("pflow-lib", "save", "d", "kept"); o.exit != 2 || !strings.Contains(o.stdout, "already_exists") {
				t.Error(o)
			}
		}
		p.must("pflow-lib", "save", "--force", "d", "kept")
		if got := p.must("pflow-exec", "run", "kept", "--print", "a.stdout"); got != c.want {
			t.Errorf("%d: %s", i, got)
		}
		if left, _ := os.ReadDir(filepath.Join(p.home, "library")); len(left) != 1 {
			t.Errorf("%d: the library has %v", i, left)
		}
	}
}

// A kill at any instant of a save leaves the draft or the whole bundle.
func TestKilledSave(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const parts = 15
	var nodes []string
	for i := range parts {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"shell","params":{"command":"./parts/%d.sh"}}`, i, i))
	}
	flow := `{"nodes":[` + strings.Join(nodes, ",") + `]}`
	for i := range parts {
		p.write(fmt.Sprintf("home/workflows/parts/%d.sh", i), fmt.Sprintf("echo %d\n", i))
	}
	p.draft("flow", flow)
	began := time.Now()
	p.must("pflow-lib", "save", "flow", "kept")
	whole := time.Since(began)
	p.must("pflow-lib", "remove", "kept")
	const kills = 20
	drafts, bundles := 0, 0
	for i := range kills {
		p.draft("flow", flow)
		if i%2 == 1 { // over another bundle
			p.must("pflow-lib", "save", "--force", "flow", "kept")
			p.draft("flow", flow)
		}
		cmd := p.command("pflow-lib", "save", "--force", "flow", "kept")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(whole*time.Duration(i)/kills, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
		_, draft := os.Stat(filepath.Join(p.home, "workflows", "flow.json"))
		_, bundle := os.Stat(filepath.Join(p.home, "library", "kept"))
		if draft == nil {
			drafts++
		}
		if draft != nil && bundle != nil || i%2 == 1 && bundle != nil {
			t.Fatalf("kill %d: the draft: %v, the bundle: %v", i, draft, bundle)
		}
		if bundle != nil {
			continue
		}
		bundles++
		for n := range parts {
			if p.read(fmt.Sprintf("home/library/kept/parts/%d.sh", n)) != fmt.Sprintf("echo %d\n", n) {
				t.Fatalf("kill %d: the bundle has no part %d", i, n)
			}
		}
		if o := p.run("pflow-lib", "check", "kept", "--name"); o.exit != 0 {
			t.Fatalf("kill %d: %s", i, o)
		}
		p.must("pflow-lib", "remove", "kept")
	}
	t.Logf("%d kills left the draft, %d a bundle", drafts, bundles)
	p.draft("flow", flow)
	p.must("pflow-lib", "save", "--force", "flow", "kept")
	if left, _ := os.ReadDir(filepath.Join(p.home, "library")); len(left) != 1 {
		t.Errorf("a later save leaves %v", left)
	}
}
