package suite

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// degrading is a workflow whose runs are degraded; more are fields of it.
func degrading(more string) string {
	return `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo why >&2; exit 3"}}, {"id": "b", "type": "echo"}],
		"edges": [{"from": "a", "to": "b", "action": "error"}]` + more + `}`
}

func TestFailDegraded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		workflow, settings string
		flags              []string
		exit               int
	}{
		"by default":                   {degrading(""), "", nil, 0},
		"a flag":                       {degrading(""), "", []string{"--fail-degraded"}, 1},
		"the workflow":                 {degrading(`, "runtime": {"fail_degraded": true}`), "", nil, 1},
		"the settings":                 {degrading(""), `{"runtime": {"fail_degraded": true}}`, nil, 1},
		"the workflow before settings": {degrading(`, "runtime": {"fail_degraded": false, "max_output": "1MB"}`), `{"runtime": {"fail_degraded": true, "max_output": "1GB"}}`, nil, 0},
		"a flag before the workflow":   {degrading(`, "runtime": {"fail_degraded": true}`), "", []string{"--no-fail-degraded"}, 0},
		"a run that is not degraded":   {`{"nodes": [{"id": "a", "type": "echo"}]}`, "", []string{"--fail-degraded"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if c.settings != "" {
				p.write("home/settings.json", c.settings)
			}
			p.draft("w", c.workflow)
			status := "degraded"
			if !strings.Contains(c.workflow, "exit 3") {
				status = "completed"
			}
			for _, args := range [][]string{{"run", "w"}, {"wait", "last"}, {"resume", "last"}, {"run", "w", "--format", "json"}, {"wait", "last", "--format", "json"}, {"run", "w", "--print", printed(status)}} {
				o := p.run("pflow-exec", append(args, c.flags...)...)
				if o.exit != c.exit {
					t.Errorf("%q: exit status %d, want %d\n%s", args, o.exit, c.exit, o)
				}
				if args[len(args)-1] == "json" && (gjson.Get(o.stdout, "status").Str != status || !gjson.Get(o.stdout, "success").Bool()) {
					t.Errorf("%q: the document has changed\n%s", args, o)
				}
				if len(args) == 4 && args[2] == "--print" && o.stdout != "Hello, World!\n" {
					t.Errorf("the output is not printed\n%s", o)
				}
			}
		})
	}
}

// printed is the output to print of a run with a status.
func printed(status string) string {
	if status == "degraded" {
		return "b.echo"
	}
	return "a.echo"
}

// TestMarkdownFailDegraded reads the setting from a Markdown file.
func TestMarkdownFailDegraded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	file := p.write("w.pflow.md", "---\nruntime: {fail_degraded: true}\n---\n\n# W\n\n## Steps\n\n### a\n\nFails.\n\n- type: shell\n- command: exit 3\n- on-error: b\n- next: end\n\n### b\n\nMends.\n\n- type: echo\n")
	if o := p.run("pflow-exec", "run", file, "--format", "json"); o.exit != 1 || gjson.Get(o.stdout, "status").Str != "degraded" {
		t.Error(o)
	}
	o := p.run("pflow-lib", "settings", "set", "runtime.fail_degraded=maybe")
	if o.exit != 2 {
		t.Error(o)
	}
}

// TestDegradedOnATerminal checks that the last line on a terminal names a degraded run's reasons, also after its outputs.
func TestDegradedOnATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", degrading(""))
	for _, args := range [][]string{{"run", "w"}, {"wait", "last"}, {"resume", "last"}, {"run", "w", "--print", "b.echo"}, {"wait", "last", "--format", "json"}} {
		s := p.session(p.command("pflow-exec", args...), 200)
		s.show()
		<-s.read
		_ = s.cmd.Wait()
		lines := strings.Split(strings.TrimSpace(s.sent.String()), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, "degraded") || !strings.Contains(last, "exit code 3: why") {
			t.Errorf("%q: the last line is %q", args, last)
		}
	}
	s := p.session(p.command("pflow-exec", "wait", "last", "--quiet"), 200)
	s.show()
	<-s.read
	if strings.Contains(s.sent.String(), "degraded") {
		t.Error(s.sent.String())
	}
	_ = s.cmd.Wait()
}

// TestStatusAndShowSayWhyARunIsDegraded: as text and as JSON.
func TestStatusAndShowSayWhyARunIsDegraded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", degrading(""))
	p.must("pflow-exec", "run", "w")
	for _, command := range []string{"status", "show"} {
		d := gjson.Parse(p.must("pflow-exec", command, "last"))
		why := d.Get("warnings.0").Str
		if text := p.must("pflow-exec", command, "last", "--format", "text"); !strings.HasPrefix(why, "node a ") || !strings.Contains(text, why) {
			t.Errorf("%s: %s\n%s", command, d, text)
		}
		if short := p.must("pflow-exec", command, "last", "--max-bytes", "1024"); len(short) > 1024 && command == "status" {
			t.Errorf("%s: %d bytes", command, len(short))
		}
	}
}

// TestShowSaysThatABatchIsDegraded checks the state of a batch of which items failed, next to one of which none did. The JSON keeps the state
// of the events.
func TestShowSaysThatABatchIsDegraded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", `{"nodes": [
		{"id": "some", "type": "shell", "batch": {"items": [0, 1], "error_handling": "continue"}, "params": {"command": "exit \"${item}\""}},
		{"id": "every", "type": "echo", "batch": {"items": [0, 1]}}]}`)
	p.must("pflow-exec", "run", "w")
	shown := p.must("pflow-exec", "show", "last", "--format", "text")
	for node, want := range map[string]string{"some": "degraded", "every": "completed"} {
		of := p.must("pflow-exec", "show", "last", node, "--format", "text")
		if head, _, _ := strings.Cut(of, "\n"); !slices.Contains(strings.Fields(head), want) {
			t.Errorf("%s: %s", node, of)
		}
		if !slices.ContainsFunc(strings.Split(shown, "\n"), func(line string) bool {
			words := strings.Fields(line)
			return len(words) > 1 && words[0] == want && words[1] == node
		}) {
			t.Errorf("%s is not %s: %s", node, want, shown)
		}
		if d := p.must("pflow-exec", "show", "last", node); gjson.Get(d, "state").Str != "completed" {
			t.Errorf("%s: %s", node, d)
		}
	}
}

// TestShowSummarizesABatch checks that the text about a large batch is short, on a terminal and off it, also after the batch was reused. It has
// the counts and the failed items, also those after the first results. The JSON has all items.
func TestShowSummarizesABatch(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", `{"nodes": [
		{"id": "list", "type": "shell", "params": {"command": "seq -s, 0 299 | sed 's/.*/[&]/'"}},
		{"id": "each", "type": "shell", "batch": {"items": "${list.stdout}", "error_handling": "continue", "parallel": true},
		 "params": {"command": "case \"${item}\" in 2??) exit 7;; esac; seq \"${item}\" 400"}}]}`)
	p.must("pflow-exec", "run", "w", "--quiet")
	for _, run := range []string{"a run", "a resumed run"} {
		text := p.must("pflow-exec", "show", "last", "each", "--format", "text")
		if n := strings.Count(text, "\n"); n > 50 || len(text) > 8000 {
			t.Errorf("%s: %d lines, %d bytes", run, n, len(text))
		}
		for _, want := range []string{"300, 100 failed", "[219]", "80 more", "[0]", "190 more", "--format json"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing:\n%s", run, want, text)
			}
		}
		for _, not := range []string{"[10]", "[220]"} {
			if strings.Contains(text, not) {
				t.Errorf("%s: %s is shown:\n%s", run, not, text)
			}
		}
		d := p.must("pflow-exec", "show", "last", "each")
		if gjson.Get(d, "outputs.results.#").Int() != 200 || gjson.Get(d, "outputs.errors.#").Int() != 100 {
			t.Errorf("%s: %s", run, d)
		}
		p.must("pflow-exec", "resume", "last", "--quiet")
	}
	s := p.session(p.command("pflow-exec", "show", "last", "each"), 60)
	s.show()
	<-s.read
	_ = s.cmd.Wait()
	if lines := strings.Count(s.sent.String(), "\n"); lines > 50 {
		t.Errorf("%d lines on a terminal", lines)
	}
	for line := range strings.Lines(s.sent.String()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "[") && cells.Width(line) > 60 {
			t.Errorf("more than 60 columns: %s", line)
		}
	}
}
