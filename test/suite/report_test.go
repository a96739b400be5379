package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reportable is a workflow with a long output, and one that would become code on a page that does not escape it.
const reportable = `{"inputs":{"who":{"type":"string"}},"nodes":[
	{"id":"long","type":"shell","params":{"command":"yes 'so long a text' | head -n 10000"}},
	{"id":"say","type":"shell","params":{"command":"echo \"<script>alert('${who}')</script>\""}}]}`

func TestARunIsReported(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", reportable)
	events := p.must("pflow-exec", "run", "w.json", "who=me")
	id := p.onlyRun()
	page := p.must("pflow-exec", "report", "last")
	for _, want := range []string{"<!doctype html>", "<title>Completed: w.json</title>", id, "&lt;script&gt;alert(&#39;me&#39;)", "150 kB"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<script>alert") {
		t.Error("an output is code in the page")
	}
	if len(page) > 100_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if from := p.must("pflow-exec", "report", id[:20]); from != page {
		t.Error("by the beginning of its id the run has another page")
	}
	if o := p.fed(events, "pflow-exec", "report", "-"); o.stdout != page || o.exit != 0 || o.stderr != "" {
		t.Errorf("from its events the run has another page: %.300s", o)
	}

	var done struct {
		RunID string `json:"run_id"`
		File  string
		Bytes int
	}
	if err := json.Unmarshal([]byte(p.must("pflow-exec", "report", "last", "-o", "run.html")), &done); err != nil || done.RunID != id || done.File != "run.html" || done.Bytes != len(page) {
		t.Errorf("%+v, %v", done, err)
	}
	if p.read("run.html") != page {
		t.Error("the file is another page")
	}
	if o := p.run("pflow-exec", "report", "last", "-o", "run.html", "--format", "text"); !strings.HasPrefix(o.stdout, "run.html ") || o.stderr != "" {
		t.Error(o)
	}
	p.must("pflow-exec", "report", "last", "-o", "/dev/null")
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Error("a device was replaced by a file")
	}
	if left, err := filepath.Glob(filepath.Join(p.dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A run from another home is reported with the beginnings of its long values.
func TestARunFromElsewhereIsReported(t *testing.T) {
	t.Parallel()
	p, elsewhere := newPlace(t), newPlace(t)
	elsewhere.write("w.json", reportable)
	events := elsewhere.must("pflow-exec", "run", "w.json", "who=me")
	o := p.fed(events, "pflow-exec", "report", "-")
	if o.exit != 0 || o.stderr != "" || !strings.Contains(o.stdout, "150 kB") || strings.Count(o.stdout, "so long a text") > 50 {
		t.Errorf("%.300s", o)
	}
}

func TestAnUnfinishedRunIsReported(t *testing.T) {
	t.Parallel()
	p, _ := killed(t)
	if page := p.must("pflow-exec", "report", "last"); !strings.Contains(page, "<title>Interrupted: w.json</title>") || !strings.Contains(page, "pflow-exec resume "+p.onlyRun()) {
		t.Errorf("%.300s", page)
	}
	events := strings.SplitAfter(p.read("run.ndjson"), "\n")
	for i := 1; i <= len(events); i++ {
		if o := p.fed(strings.Join(events[:i], ""), "pflow-exec", "report", "-"); o.exit != 0 || o.stderr != "" || !strings.HasSuffix(o.stdout, "</html>\n") {
			t.Errorf("the first %d lines: %.300s", i, o)
		}
	}
}

func TestWhatIsNoRunIsNotReported(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, c := range []struct {
		args  []string
		stdin string
		exit  int
		says  string
	}{
		{[]string{"last"}, "", 2, "not_found"},
		{[]string{"r01unknown"}, "", 2, "r01unknown"},
		{[]string{"../x"}, "", 2, "security_error"},
		{[]string{"-"}, "", 2, "Standard input"},
		{[]string{"-"}, "hello\n", 1, "Line 1 of the event stream"},
		{[]string{"-"}, "\x00\xff\n\x00\n", 1, "Line 1 of the event stream"},
		{[]string{"-"}, `{"v":1,"event":"node_started","node":"a"}` + "\n", 2, "node_started"},
		{[]string{"-", "-o", "none/run.html"}, `{"v":1,"event":"run_started","run":"r1","nodes":["a"]}` + "\n", 2, "none/run.html"},
		{[]string{"-", "-o", "."}, `{"v":1,"event":"run_started","run":"r1","nodes":["a"]}` + "\n", 2, " .: "},
		{[]string{"-"}, `{"v":1,"event":"run_started","run":"last","nodes":["a"]}` + "\n", 0, "a"},
	} {
		o := p.fed(c.stdin, "pflow-exec", append([]string{"report"}, c.args...)...)
		if o.exit != c.exit || !strings.Contains(o.stdout+o.stderr, c.says) {
			t.Errorf("%q of %q: %.400s", c.args, c.stdin, o)
		}
	}
}
