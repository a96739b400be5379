package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nested is a workflow of the nodes a, outer with the inner nodes x, y and z for each of two items, and b. Each writes its name and
// its key to ran.txt; y waits at the gate "gate" if there is one.
const nested = `{"nodes":[
	{"id":"a","type":"shell","params":{"command":"echo a $PFLOW_NODE_KEY >> ran.txt; echo A"}},
	{"id":"outer","type":"workflow","batch":{"items":["1","2"]},"params":{"inputs":{"v":"${a.stdout}${item}"},"workflow":{"inputs":{"v":{}},"nodes":[
		{"id":"x","type":"shell","params":{"command":"echo x${v} $PFLOW_NODE_KEY >> ran.txt; echo ${v}X"}},
		{"id":"y","type":"shell","params":{"command":"echo y${v} $PFLOW_NODE_KEY >> ran.txt; if test -e gate; then read line < gate; fi; echo ${x.stdout}Y"}},
		{"id":"z","type":"shell","params":{"command":"echo z${v} $PFLOW_NODE_KEY >> ran.txt; echo ${y.stdout}Z"}}],
		"outputs":{"z":{"source":"${z.stdout}"}}}}},
	{"id":"b","type":"shell","params":{"command":"echo b $PFLOW_NODE_KEY >> ran.txt; echo ${outer.results[1].z}B"}}]}`

// ran returns the names of the nodes that have written to ran.txt since the last call, in order, and adds their keys to keys.
func (p *place) ran(keys map[string][]string) string {
	p.Helper()
	var names []string
	for line := range strings.Lines(p.read("ran.txt")) {
		name, key, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, name)
		if keys != nil && !slices.Contains(keys[name], key) {
			keys[name] = append(keys[name], key)
		}
	}
	p.write("ran.txt", "")
	return strings.Join(names, " ")
}

func TestNodesRunAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	keys := map[string][]string{}
	p.write("w.json", nested)
	p.must("pflow-exec", "run", "w.json")
	p.ran(keys)
	p.must("pflow-exec", "run", "w.json", "--resume", "last") // now the inside of outer is in an earlier run
	for _, c := range []struct{ args, ran string }{
		{"--from outer/y --jobs 1", "yA1 zA1 yA2 zA2 b"},
		{"--from outer[1]/z", "zA2 b"},
		{"--only outer[1]/y", "yA2"},
		{"--only outer[1]/z", "zA2"},
		{"--from b", "b"}, // and what is outdated: outer gathers what its nodes did alone
		{"--only a", "a"},
		{"--only b", "b"},
		{"--from a --jobs 1", "a xA1 yA1 zA1 xA2 yA2 zA2 b"},
		{"--resume last", ""},
	} {
		p.must("pflow-exec", slices.Concat([]string{"run", "w.json"}, strings.Fields(c.args))...)
		if got := p.ran(keys); got != c.ran {
			t.Errorf("%s: %s ran, want %s", c.args, got, c.ran)
		}
	}
	want := map[string]int{"a": 3, "xA1": 2, "xA2": 2, "yA1": 3, "yA2": 4, "zA1": 3, "zA2": 5, "b": 6}
	for node, n := range want {
		if len(keys[node]) != n {
			t.Errorf("%s has %d keys, want %d", node, len(keys[node]), n)
		}
	}
}

// TestARunFromANodeIsKilled: whatever a run from a node has finished when it is killed does not run again, and what was in flight has
// its key.
func TestARunFromANodeIsKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	keys := map[string][]string{}
	p.write("w.json", nested)
	p.must("pflow-exec", "run", "w.json")
	p.ran(keys)
	g := p.gate("gate")
	id := p.started("w.json", "--from", "outer/x", "--jobs", "1")
	p.eventually("y waits", func() bool { return strings.Contains(p.read("ran.txt"), "yA1") })
	p.kill(id)
	g.left()
	if got := p.ran(keys); got != "xA1 yA1" {
		t.Errorf("%s ran", got)
	}
	if err := os.Remove(filepath.Join(p.dir, "gate")); err != nil {
		t.Fatal(err)
	}
	p.must("pflow-exec", "resume", id, "--jobs", "1")
	if got := p.ran(keys); got != "yA1 zA1 xA2 yA2 zA2 b" {
		t.Errorf("%s ran", got)
	}
	for node, all := range keys {
		want := 2 // one before, and one since
		if node == "a" {
			want = 1
		}
		if len(all) != want {
			t.Errorf("%s has the keys %q", node, all)
		}
	}
}

// TestOneNodeIsKilled: a run of one node that was killed goes on with that node alone.
func TestOneNodeIsKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", nested)
	p.must("pflow-exec", "run", "w.json")
	p.ran(nil)
	g := p.gate("gate")
	id := p.started("w.json", "--only", "outer[0]/y")
	p.eventually("y waits", func() bool { return p.read("ran.txt") != "" })
	refused := p.run("pflow-exec", "run", "w.json", "--only", "a")
	if e := p.document(refused.stdout[strings.LastIndex(strings.TrimSpace(refused.stdout), "\n")+1:])["error"].(map[string]any); refused.exit != 1 || e["type"] != "conflict" || !strings.Contains(e["message"].(string), id) {
		t.Errorf("of a live run: %s", refused)
	}
	p.kill(id)
	g.left()
	if err := os.Remove(filepath.Join(p.dir, "gate")); err != nil {
		t.Fatal(err)
	}
	keys := map[string][]string{}
	p.ran(keys)
	answer := p.document(p.must("pflow-exec", "resume", id, "--format", "json"))
	if got := p.must("pflow-exec", "wait", "last", "--print", "outer[0]/y.stdout"); got != "A1XY\n" {
		t.Errorf("%q", got)
	}
	if got := fmt.Sprint(answer["outputs"]); p.ran(keys) != "yA1" || len(keys["yA1"]) != 1 || !strings.Contains(got, "A1XY") {
		t.Errorf("%v %v", answer, keys)
	}
	p.must("pflow-exec", "run", "w.json", "--resume", "last", "--jobs", "1")
	if got := p.ran(nil); got != "zA1 b" {
		t.Errorf("then %s ran", got)
	}
}

// TestTheLastRunOfAWorkflow: by its file, whatever ran since; a corrected file counts, and so does an earlier run by name.
func TestTheLastRunOfAWorkflow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", chain("echo a >> ran.txt; echo 1", "echo b >> ran.txt; exit 3", "echo c >> ran.txt; echo ${b.stdout}"))
	p.write("other/w.json", chain("echo other >> ran.txt"))
	p.draft("saved", chain("echo s >> ran.txt", "echo t >> ran.txt"))
	if o := p.run("pflow-exec", "run", "w.json", "--only", "b"); o.exit != 2 || p.last(o.stdout)["error"].(map[string]any)["type"] != "not_found" {
		t.Errorf("without a run: %s", o)
	}
	if o := p.run("pflow-exec", "run", "w.json"); o.exit != 1 {
		t.Fatal(o)
	}
	p.must("pflow-exec", "run", "saved")
	p.must("pflow-exec", "run", "other/w.json")
	p.ran(nil)
	if o := p.run("pflow-exec", "run", "w.json", "--only", "c"); o.exit != 2 || p.last(o.stdout)["error"].(map[string]any)["type"] != "template_error" {
		t.Errorf("without what it reads: %s", o)
	}
	p.write("w.json", chain("echo a >> ran.txt; echo 1", "echo b >> ran.txt; echo 2", "echo c >> ran.txt; echo ${b.stdout}"))
	for _, c := range []struct{ line, ran, printed string }{
		{"w.json --only b --print b.stdout", "b", "2\n"},
		{"w.json --only c --print c.stdout", "c", "2\n"},
		{"w.json --from b --print last", "b c", "2\n"},
		{"saved --only b --print b.stdout", "t", "\n"},
		{"saved --from a --print last", "s t", "\n"},
	} {
		got := p.must("pflow-exec", slices.Concat([]string{"run"}, strings.Fields(c.line))...)
		if ran := p.ran(nil); ran != c.ran || got != c.printed {
			t.Errorf("%s: %s ran, %q", c.line, ran, got)
		}
	}
}

// TestWhatAnEarlierRunHadIsGone: the failed items of a batch are in the run that executed it.
func TestWhatAnEarlierRunHadIsGone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes":[{"id":"each","type":"shell","batch":{"items":["1","2"],"error_handling":"continue"},
		"params":{"command":"echo ${item} >> ran.txt; test \"${item}\" = 1"}}]}`)
	first := p.document(p.must("pflow-exec", "run", "w.json", "--format", "json"))
	id := first["run_id"].(string)
	if first["status"] != "degraded" || first["resume"] != "pflow-exec resume "+id+" --retry-failed" {
		t.Errorf("%v", first)
	}
	p.must("pflow-exec", "run", "w.json", "--resume", "last")
	if got := p.ran(nil); got != "1 2" {
		t.Errorf("%s ran", got)
	}
	p.must("pflow-exec", "resume", "last", "--retry-failed")
	if got := p.ran(nil); got != "2" {
		t.Errorf("%s ran", got)
	}
	p.must("pflow-exec", "run", "w.json", "--resume", "last")
	for _, old := range p.listedRuns()[1:] {
		if err := os.RemoveAll(filepath.Join(p.home, "runs", old)); err != nil {
			t.Fatal(err)
		}
	}
	o := p.run("pflow-exec", "resume", "last", "--retry-failed", "--format", "json")
	if e := p.document(o.stdout)["error"].(map[string]any); o.exit != 2 || e["type"] != "not_found" || e["node"] != "each" {
		t.Errorf("%s", o)
	}
}

// listedRuns returns the ids of all runs, newest first.
func (p *place) listedRuns() (ids []string) {
	p.Helper()
	for _, r := range p.events(p.must("pflow-exec", "list")) {
		ids = append(ids, r["run_id"].(string))
	}
	return ids
}

// TestSecretsOfNodesThatRunAgain: a literal is read from the file again, and what was redacted in outputs is made again.
func TestSecretsOfNodesThatRunAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"inputs":{"pin":{"secret":true}},"nodes":[
		{"id":"make","type":"shell","params":{"command":"echo make >> ran.txt; echo x-${pin}-x","inputs":{"api_key":"literal-93-secret"}}},
		{"id":"use","type":"shell","params":{"command":"echo use >> ran.txt; echo \"${make.stdout}\" > used.txt; echo ${api_key} > key.txt","inputs":{"api_key":"literal-77-secret"}}},
		{"id":"each","type":"shell","batch":{"items":["1"],"error_handling":"continue"},"params":{"command":"echo each >> ran.txt; exit 1"}},
		{"id":"fall","type":"echo"}],
		"edges":[{"from":"make","to":"use"},{"from":"use","to":"each"},{"from":"each","to":"fall","action":"error"}]}`)
	p.must("pflow-exec", "run", "w.json", "pin=hunter22hunter")
	p.ran(nil)
	if o := p.run("pflow-exec", "run", "w.json", "--only", "use"); o.exit != 2 {
		t.Errorf("without the secret: %s", o)
	}
	p.must("pflow-exec", "run", "w.json", "--only", "use", "pin=hunter22hunter")
	if got := p.ran(nil); got != "make use" || p.read("used.txt") != "x-hunter22hunter-x\n" || p.read("key.txt") != "literal-77-secret\n" {
		t.Errorf("%s ran: %q %q", got, p.read("used.txt"), p.read("key.txt"))
	}
	p.must("pflow-exec", "run", "w.json", "--from", "each", "pin=hunter22hunter")
	if got := p.ran(nil); got != "each" {
		t.Errorf("%s ran", got)
	}
	p.must("pflow-exec", "resume", "last", "--retry-failed", "pin=hunter22hunter")
	if got := p.ran(nil); got != "each" {
		t.Errorf("%s ran", got)
	}
	for _, secret := range []string{"hunter22hunter", "literal-77-secret", "literal-93-secret"} {
		if o := p.run("grep", "-r", secret, p.home); o.exit != 1 {
			t.Errorf("%s is in the home: %s", secret, o)
		}
	}
}
