package suite

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAFragmentHasNoStyleAndNoScript(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", reportable)
	p.must("pflow-exec", "run", "w.json", "who=me")
	id := p.onlyRun()
	fragment := p.must("pflow-exec", "report", "last", "--fragment")
	for _, want := range []string{`<article class="run" data-run="` + id + `" data-workflow="w.json" data-status="completed">`, "&lt;script&gt;alert(&#39;me&#39;)", "150 kB"} {
		if !strings.Contains(fragment, want) {
			t.Errorf("the fragment lacks %q", want)
		}
	}
	for _, not := range []string{"<script", "<style", "style=", "<link", "<meta", "src=", "data-action"} {
		if strings.Contains(fragment, not) {
			t.Errorf("the fragment has %q", not)
		}
	}
	if page := p.must("pflow-exec", "report", "last"); !strings.Contains(page, fragment) || !strings.Contains(page, p.must("pflow-exec", "report", "--style")) {
		t.Error("the page is not a shell around the fragment and its style")
	}
	if script := p.must("pflow-exec", "report", "--script"); !strings.Contains(script, "var view = ") || !strings.Contains(script, "var live = ") || !strings.Contains(p.must("pflow-exec", "report", "--app"), script) {
		t.Errorf("the script is not the App's: %.300s", script)
	}
	if short := p.must("pflow-exec", "report", "last", "--fragment", "--max-bytes", "6000"); len(short) > 6000 || !strings.HasSuffix(short, "</article>\n") {
		t.Errorf("%d bytes: %.200s", len(short), short)
	}
	var done struct{ Bytes int }
	if err := json.Unmarshal([]byte(p.must("pflow-exec", "report", "last", "--fragment", "-o", "run.html")), &done); err != nil || done.Bytes != len(fragment) || p.read("run.html") != fragment {
		t.Errorf("%v, %d bytes", err, done.Bytes)
	}
}

func TestAFragmentOfAQuestionHasButtons(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("ask.json", `{"nodes":[{"id":"drop","type":"shell","approval":{"question":"Drop it?"},"params":{"command":"echo dropped"}}]}`)
	p.run("pflow-exec", "run", "ask.json")
	id := p.onlyRun()
	const button = `data-action="answer" data-node="drop" value="yes"`
	if fragment := p.must("pflow-exec", "report", id, "--fragment"); !strings.Contains(fragment, button) {
		t.Errorf("%.2000s", fragment)
	}
	if page := p.must("pflow-exec", "report", id); strings.Contains(page, "data-action=") || !strings.Contains(page, "Drop it?") {
		t.Error("the page without a server has buttons, or does not show the question")
	}
	p.must("pflow-exec", "resume", id, "--approve", "yes")
	if fragment := p.must("pflow-exec", "report", id, "--fragment"); strings.Contains(fragment, button) || !strings.Contains(fragment, `data-resumed-by="r`) {
		t.Errorf("an answered question can be answered again: %.2000s", fragment)
	}
}

func TestPartsOfReportsAreRefusedWhereTheyHaveNoEffect(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, args := range [][]string{
		{}, {"--fragment"}, {"--style", "last"}, {"--app", "last"}, {"--script", "last"}, {"--app", "--style"}, {"--script", "--style"}, {"last", "--tools", "execute"}, {"--app", "--tools", "rm"}, {"--style", "--max-bytes", "5000"}, {"--app", "--max-bytes", "5000"},
	} {
		if o := p.run("pflow-exec", append([]string{"report"}, args...)...); o.exit != 2 || !strings.Contains(o.stdout, "usage_error") {
			t.Errorf("%q: %s", args, o)
		}
	}
	if app := p.must("pflow-exec", "report", "--app", "--tools", "execute,run_cancel"); !strings.Contains(app, `data-tools="execute run_cancel"`) || len(app) > 40_000 {
		t.Errorf("%d bytes: %.600s", len(app), app)
	}
}
