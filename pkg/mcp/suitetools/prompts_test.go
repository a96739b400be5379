package suitetools

import (
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// prompt returns the text of a prompt, or the type of the fault.
func (f *fakes) prompt(front *Front, name string, arguments map[string]string) string {
	f.Helper()
	for _, p := range front.Prompts("/home/drafts") {
		if p.Name == name {
			text, err := p.Get(f.Context(), arguments)
			if err != nil {
				return "fault " + string(fault.From(err).Type)
			}
			return text
		}
	}
	f.Fatalf("there is no prompt %s", name)
	return ""
}

// contains fails the test for each text that is missing.
func (f *fakes) contains(text string, parts ...string) {
	f.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			f.Errorf("%q is not in\n%s", part, text)
		}
	}
}

const promptLib = `case "$2" in
guide) echo '# The guide';;
search) echo '{"nodes":[{"type":"http","description":"Make a\n request"}],"workflows":[{"name":"fetch-page","description":"Fetch"}]}';;
path) case "$*" in *draft) echo '{"saved":false}';; *kept) echo '{"saved":true}';; *) echo '{"success":false,"error":{"type":"security_error","message":"no"}}'; exit 2;; esac;;
show) echo '{"nodes":["a of the workflow"]}';;
esac`

func TestPromptToWriteAWorkflow(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-lib", promptLib)
	text := f.prompt(f.front(), "write-workflow", map[string]string{"task": "--fetch a page"})
	f.contains(text, "--fetch a page", "# The guide", "`http`: Make a request", "`fetch-page`: Fetch", "/home/drafts/NAME.json", "execute", "save_to_library")
	if want := "pflow-lib --quiet search --format json --detail=brief --limit=8 -- --fetch a page"; !slices.Contains(f.Calls(), want) {
		t.Errorf("calls %q", f.Calls())
	}
	front := &Front{Suite: f.suite, Toolsets: []string{"core", "drafts"}}
	text = f.prompt(front, "write-workflow", map[string]string{"task": strings.Repeat("long ", 100_000)})
	f.contains(text, "write_draft")
	if strings.Contains(text, "/home/drafts") {
		t.Error("it names a folder, although there is a tool")
	}
	if last := f.Calls()[len(f.Calls())-1]; len(last) > maxQuery+200 {
		t.Errorf("a query has %d bytes", len(last))
	}
}

// TestPromptWithoutSearch: without matches the prompt has the rest; without the guide it is a fault.
func TestPromptWithoutSearch(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-lib", `if [ "$2" = guide ]; then echo '# The guide'; else exit 1; fi`)
	f.contains(f.prompt(f.front(), "write-workflow", map[string]string{"task": "x"}), "# The guide", "browse_components")
	f.Program("pflow-lib", `exit 1`)
	if got := f.prompt(f.front(), "write-workflow", map[string]string{"task": "x"}); got != "fault protocol_error" {
		t.Errorf("%s", got)
	}
}

func TestPromptToMendARun(t *testing.T) {
	status := func(workflow, state, more string) string {
		return `case "$2" in
status) echo '{"run_id":"r1","workflow":"` + workflow + `","status":"` + state + `"` + more + `}';;
show) echo '{"node":"b","outputs":"of the node"}';;
events) echo '{"event":"run_started","workflow":{"definition":{"nodes":["b as it ran"]}}}'; echo '{"event":"run_finished"}';;
esac`
	}
	failed := `,"failed_node":"b","error":{"type":"execution_error","message":"it broke"}`
	for _, c := range []struct {
		name, script string
		contains     []string
		lacks        string
	}{
		{"a draft", status("draft", "failed", failed), []string{"r1", `"b"`, "it broke", "of the node", "a of the workflow", "/home/drafts/draft.json", `resume "r1"`, "pflow://runs/r1/logs/"}, "--force"},
		{"saved", status("kept", "timed_out", failed), []string{"a of the workflow", "--force", `resume "r1"`}, "/home/drafts/kept.json"},
		{"of a file", status("../f.json", "failed", failed), []string{"../f.json", "pflow-exec run ../f.json --resume r1", "pflow-exec resume", "of the node", "b as it ran"}, "Call execute"},
		{"deleted", status("gone", "failed", failed), []string{"/home/drafts/gone.json", `name "gone"`, `resume "r1"`, "of the node", "b as it ran"}, "pflow-exec"},
		{"interrupted", status("draft", "interrupted", ""), []string{`resume "r1"`, "a of the workflow"}, `"of the node"`},
		{"completed", status("draft", "completed", ""), []string{"r1", "completed"}, "resume"},
		{"running", status("draft", "running", ""), []string{`resume "r1"`, "wait"}, "a of the workflow"},
		{"paused", status("draft", "paused", `,"error":{"message":"go?","suggestions":["answer a or b"]}`), []string{"paused. go?\n", "question", "answer a or b", `name "draft"`, `resume "r1"`, "answers"}, "a of the workflow"},
		{"denied", status("draft", "denied", ""), []string{"denied"}, "a of the workflow"},
		{"continued", status("draft", "failed", failed+`,"resumed_by":"r2"`), []string{"r2"}, "a of the workflow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakes(t)
			f.Program("pflow-lib", promptLib)
			f.Program("pflow-exec", c.script)
			text := f.prompt(f.front(), "mend-run", map[string]string{})
			f.contains(text, c.contains...)
			if strings.Contains(text, c.lacks) {
				t.Errorf("%q is in\n%s", c.lacks, text)
			}
			if f.Calls()[0] != "pflow-exec --quiet status --format json -- last" {
				t.Errorf("calls %q", f.Calls())
			}
		})
	}
	f := newFakes(t)
	f.Program("pflow-exec", `echo '{"success":false,"error":{"type":"not_found","message":"no such run"}}'; exit 2`)
	if got := f.prompt(f.front(), "mend-run", map[string]string{"run": "--help"}); got != "fault not_found" || !slices.Equal(f.Calls(), []string{"pflow-exec --quiet status --format json -- --help"}) {
		t.Errorf("%s after %q", got, f.Calls())
	}
}

// TestLongPartsOfAPrompt are named in place of their text. A text with a fence of its own is in a longer one.
func TestLongPartsOfAPrompt(t *testing.T) {
	var s strings.Builder
	part(&s, "The workflow w", "json", strings.Repeat("x", maxPart+1), "pflow://workflows/w")
	if text := s.String(); len(text) > 200 || !strings.Contains(text, "pflow://workflows/w") {
		t.Errorf("%.300s", text)
	}
	s.Reset()
	part(&s, "The workflow w", "markdown", "````sh\nls\n````\n", "pflow://workflows/w")
	if text := s.String(); !strings.Contains(text, "\n`````markdown\n````sh\nls\n````\n`````\n") {
		t.Errorf("%s", text)
	}
}
