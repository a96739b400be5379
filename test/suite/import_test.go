package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// upstreamHome copies a home that pflow's Python version 0.16 has written, and returns the folder that has it as .pflow. Of its
// workflows, wrong and earlier are not from there.
func (p *place) upstreamHome() string {
	p.Helper()
	dir := filepath.Join(p.dir, "user")
	if err := os.CopyFS(filepath.Join(dir, ".pflow"), os.DirFS(filepath.Join("testdata", "upstream"))); err != nil {
		p.Fatal(err)
	}
	return dir
}

// statuses returns the items of an answer of import as "KIND NAME STATUS", and those that differ.
func statuses(answer string) (all, differ []string) {
	for _, item := range gjson.Get(answer, "items").Array() {
		name := item.Get("kind").Str + " " + item.Get("name").Str
		all = append(all, name+" "+item.Get("status").Str)
		if item.Get("differs").Exists() {
			differ = append(differ, name)
		}
	}
	return all, differ
}

// Everything that is imported from a home of upstream runs by its name, from any folder.
func TestImportAHome(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	from := p.upstreamHome()
	const want = `setting env/MY_API_TOKEN taken
setting env/region taken
setting registry/nodes/deny taken
setting llm/default_model taken
setting settings.json taken
server key taken
server my_docs taken
server web taken
workflow by-name taken
workflow by-template taken
workflow earlier taken
workflow main-flow taken
workflow region taken
workflow uses-tool taken
workflow wrong refused`
	for _, args := range [][]string{{"--dry-run", from}, {filepath.Join(from, ".pflow")}} {
		o := p.run("pflow-lib", append([]string{"import"}, args...)...)
		all, differ := statuses(o.stdout)
		if got := strings.Join(all, "\n"); o.exit != 1 || got != want {
			t.Errorf("%s: %s\nwant %s\nstderr: %s", args, got, want, o.stderr)
		}
		for _, name := range []string{"setting settings.json", "server key", "server web", "workflow by-template"} {
			if !strings.Contains(strings.Join(differ, "\n"), name) {
				t.Errorf("%s: it is not said what differs of %s", args, name)
			}
		}
		if strings.Contains(o.stdout+o.stderr, "s3cret-value-1") {
			t.Errorf("%s: a secret is printed", args)
		}
		if _, err := os.Stat(filepath.Join(p.home, "settings.json")); args[0] == "--dry-run" && err == nil {
			t.Error("a dry run has changed the home")
		}
	}
	if out, err := exec.Command("diff", "-r", filepath.Join("testdata", "upstream"), filepath.Join(from, ".pflow")).CombinedOutput(); err != nil {
		t.Errorf("the home of upstream was changed: %s", out)
	}
	if err := os.RemoveAll(from); err != nil {
		t.Fatal(err)
	}
	runs := map[string]string{"by-name": "", "by-template": "which=main-flow", "earlier": "who=Bo", "main-flow": "who=Bo", "region": "", "uses-tool": ""}
	list := strings.Split(strings.TrimSpace(p.must("pflow-lib", "list")), "\n")
	if len(list) != len(runs) {
		t.Errorf("%d workflows are listed: %s", len(list), list)
	}
	elsewhere := filepath.Dir(p.write("elsewhere/x", ""))
	for _, line := range list {
		name := gjson.Get(line, "name").Str
		args := append([]string{"run", "-C", elsewhere, "--format", "json", name}, strings.Fields(runs[name])...)
		if o := p.run("pflow-exec", args...); o.exit != 0 || gjson.Get(o.stdout, "outputs").Raw == "{}" {
			t.Errorf("%s: %s", name, o)
		}
	}
	if got := p.must("pflow-exec", "run", "region", "--print", "o"); got != "in eu\n" {
		t.Errorf("region: %s", got)
	}
	if got := gjson.Get(p.read("home/mcp-servers.json"), "mcpServers.web.headers.Authorization").Str; got != "Bearer ${WEB_TOKEN}" {
		t.Errorf("web: %s", got)
	}
	// Importing again changes nothing, and what has changed meanwhile is kept.
	p.write("user/.pflow/x", "")
	from = p.upstreamHome()
	p.write("home/library/region.pflow.md", strings.Replace(p.read("home/library/region.pflow.md"), "in ", "here in ", 1))
	o := p.run("pflow-lib", "import", from)
	all, _ := statuses(o.stdout)
	if got := strings.Join(all, "\n"); o.exit != 1 || got != strings.NewReplacer("region taken", "region kept", "env/region taken", "env/region unchanged", "taken", "unchanged").Replace(strings.Replace(want, "env/region taken", "env/region unchanged", 1)) {
		t.Errorf("again: %s", o)
	}
	if o := p.run("pflow-lib", "import", "--force", from); !strings.Contains(o.stdout, `"name":"region","status":"taken"`) || strings.Contains(p.read("home/library/region.pflow.md"), "here in") {
		t.Errorf("with --force: %s", o)
	}
}

// A workflow's file is imported with what it needs.
func TestImportAFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.parts("flows")
	p.write("flows/flow.pflow.md", referring["flow.pflow.md"])
	answer := p.must("pflow-lib", "import", "flows/flow.pflow.md")
	if got := gjson.Get(answer, "items.0.files").Raw; got != `["kids/child.pflow.md","parts/more.py","parts/say.sh"]` {
		t.Errorf("%s", answer)
	}
	if got := p.must("pflow-exec", "run", "flow", "--print", "text"); got != "hello Ada, more\n" {
		t.Errorf("%s", got)
	}
	for _, args := range []string{"import no-such", "import .", "import"} {
		if o := p.run("pflow-lib", strings.Fields(args)...); o.exit != 2 || !strings.Contains(o.stdout, "not_found") {
			t.Errorf("%s: %s", args, o)
		}
	}
}

// A home can be shared: then everything is used where it is.
func TestImportTheSharedHome(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	from := p.upstreamHome()
	p.env = append(p.env, "PFLOW_HOME="+filepath.Join(from, ".pflow"))
	p.home = filepath.Join(from, ".pflow")
	all, _ := statuses(p.must("pflow-lib", "import", from))
	for _, item := range all {
		if !strings.HasSuffix(item, " unchanged") {
			t.Error(item)
		}
	}
	if got := p.must("pflow-exec", "run", "main-flow", "-C", p.dir, "who=Bo", "--print", "o"); !strings.HasPrefix(got, "hi Bo / from script Bo / ") {
		t.Errorf("it prints %s", got)
	}
}
