package suite

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// would returns what a dry run reports for each node.
func (p *place) would(args ...string) string {
	p.Helper()
	d := p.document(p.must("pflow-exec", append(append([]string{"run"}, args...), "--dry-run")...))
	var list []string
	for _, n := range d["nodes"].([]any) {
		n := n.(map[string]any)
		list = append(list, n["would"].(string)+" "+n["node"].(string))
	}
	return strings.Join(list, ", ")
}

func TestADryRunWritesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", strings.Replace(chain("echo a >> ran.txt", "echo $pin >> ran.txt"), `"nodes"`, `"inputs":{"pin":{"type":"string","secret":true,"required":false}},"nodes"`, 1))
	p.write("bad.json", chain("echo ${nobody.stdout}"))
	for _, command := range []string{"run", "start"} {
		o := p.run("pflow-exec", command, "w.json", "pin=hunter22", "--dry-run", "--idempotency-key", "k", "--env-file", p.write("env", "A=1\n"))
		if d := p.document(o.stdout); o.exit != 0 || o.stderr != "" || d["dry_run"] != true || d["success"] != true || strings.Contains(o.stdout, "hunter22") {
			t.Errorf("%s: %s", command, o)
		}
		if o := p.run("pflow-exec", command, "bad.json", "--dry-run"); o.exit != 2 {
			t.Errorf("%s of a bad one: %s", command, o)
		}
		if o := p.run("pflow-exec", command, "w.json", "nothing=1", "--dry-run"); o.exit != 2 {
			t.Errorf("%s with a bad input: %s", command, o)
		}
	}
	if _, err := os.Stat(p.home); err == nil || p.read("ran.txt") != "" {
		t.Errorf("something was made: %v", p.files())
	}
	if got := p.must("pflow-exec", "run", "w.json", "--dry-run", "--format", "text"); got != "run  a  shell\nrun  b  shell  after a\n" {
		t.Errorf("for people: %q", got)
	}
}

// A dry run reports what the resume then does, and changes nothing.
func TestADryRunTellsWhatAResumeReuses(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	definition := `{"nodes":[
		{"id":"a","type":"shell","params":{"command":"head -c 70000 /dev/zero | tr '\\0' x"}},
		{"id":"each","type":"shell","batch":{"items":["x","y"]},"params":{"command":"test \"${item}\" = x || cat there"}},
		{"id":"sub","type":"workflow","params":{"workflow":{"nodes":[{"id":"one","type":"shell","params":{"command":"true"}},{"id":"two","type":"shell","params":{"command":"cat there"}}],"edges":[{"from":"one","to":"two"}]}}},
		{"id":"ask","type":"echo","approval":true},
		{"id":"last","type":"echo","params":{"data":"${a.exit_code} ${sub.two}"}}]}`
	p.write("w.json", definition)
	if o := p.run("pflow-exec", "run", "w.json", "-k"); o.exit != 1 {
		t.Fatal(o)
	}
	before := p.files()
	locks := p.read("home/runs/" + p.last(p.journal())["run"].(string) + "/lock")
	want := "reuse a, run each, run sub, ask ask, run last"
	if got := p.would("w.json", "--resume", "last"); got != want {
		t.Errorf("predicted %s, want %s", got, want)
	}
	if got := p.would("w.json", "--resume", "last", "--approve", "yes"); got != strings.Replace(want, "ask ask", "run ask", 1) {
		t.Errorf("with the answer predicted %s", got)
	}
	changed := strings.Replace(definition, "70000", "70001", 1)
	p.write("changed.json", changed)
	if got := p.would("changed.json", "--resume", p.onlyRun()); got != strings.Replace(want, "reuse a", "run a", 1) {
		t.Errorf("of a changed workflow predicted %s", got)
	}
	if !maps.Equal(p.files(), before) || p.read("home/runs/"+p.last(p.journal())["run"].(string)+"/lock") != locks {
		t.Error("the home has changed")
	}
	p.write("there", "now")
	stream := p.must("pflow-exec", "run", "w.json", "--resume", "last", "--approve", "yes")
	reused := ""
	for _, e := range p.events(stream) {
		if e["event"] == "node_reused" {
			reused += " " + e["node"].(string)
		}
	}
	if reused != " a sub/one" {
		t.Errorf("reused are%s", reused)
	}
	if got := p.would("w.json", "--resume", "last"); strings.Contains(got, "run") || strings.Contains(got, "ask ") && strings.Contains(got, "ask ask") {
		t.Errorf("of one that has ended predicted %s", got)
	}
}
