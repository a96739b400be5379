package suitetools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// printed returns the text of a resource, or the type and the message of the fault.
func (f *fakes) printed(uri string) string {
	f.Helper()
	content, err := f.front().Read(f.Context(), uri)
	if err == nil {
		return content.Text
	}
	b, _ := json.Marshal(err)
	var shown map[string]any
	_ = json.Unmarshal(b, &shown)
	return fmt.Sprint(shown["type"], ": ", shown["message"])
}

func TestReadOutput(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-exec", `case "$*" in
*--print=long*) echo 'the  long one ';;
*--print=lines*) printf 'a\n\n\n';;
*--print=live*) echo '{"success":false,"error":{"type":"timeout","message":"It has not ended"}}'; exit 124;;
*) echo '{"success":false,"error":{"type":"usage_error","message":"The run has no such output"}}'; exit 2;;
esac`)
	for uri, want := range map[string]string{
		"pflow://runs/r1/outputs/long":     "the  long one ",
		"pflow://runs/r1/outputs/l%6fng":   "the  long one ",
		"pflow://runs/r1/outputs/lines":    "a\n\n",
		"pflow://runs/r1/outputs/live":     "not_found: Run r1 has not ended, so it has no outputs yet",
		"pflow://runs/r1/outputs/other":    "not_found: The run has no such output",
		"pflow://runs/r1":                  "not_found: The run has no such output",
		"pflow://runs/r1/outputs/%zz":      "not_found: There is no resource pflow://runs/r1/outputs/%zz",
		"file:///etc/passwd":               "not_found: There is no resource file:///etc/passwd",
		"pflow://runs/--help/outputs/long": "the  long one ",
	} {
		if got := f.printed(uri); got != want {
			t.Errorf("%s is %q, not %q", uri, got, want)
		}
	}
	if want := "pflow-exec --quiet wait --format json --timeout=1ms --print=long -- --help"; !slices.Contains(f.Calls(), want) {
		t.Errorf("a run's name is taken for a flag: %q", f.Calls())
	}
}

// TestReadOutputOfARunWithoutSuccess: such a run has no output, for which the command exits without a document.
func TestReadOutputOfARunWithoutSuccess(t *testing.T) {
	for state, exit := range map[string]int{"failed": 1, "paused": 4, "denied": 1, "cancelled": 143, "timed_out": 124, "interrupted": 1} {
		f := newFakes(t)
		f.Program("pflow-exec", fmt.Sprintf(`case "$*" in
*" status "*) echo '{"run_id":"r1","status":"%s","error":{"type":"execution_error","message":"it broke"}}';;
*) echo "pflow-exec: error: it broke" >&2; exit %d;;
esac`, state, exit))
		_, err := f.front().Read(t.Context(), "pflow://runs/last/outputs/total")
		missing := fault.From(err)
		if missing == nil || missing.Type != fault.NotFound || len(missing.Suggestions) == 0 || missing.Details["status"] != state {
			t.Errorf("%s: %+v", state, missing)
			continue
		}
		f.contains(missing.Message, "r1", `"total"`, state, "it broke")
		for toolset, tool := range map[string]string{"core": "execute", "runs": "run_resume", "servers": ""} {
			_, err := (&Front{Suite: f.suite, Toolsets: []string{toolset}}).Read(t.Context(), "pflow://runs/last/outputs/total")
			said := strings.Join(fault.From(err).Suggestions, " ")
			for _, name := range []string{"execute", "run_resume"} {
				if strings.Contains(said, name) != (state == "paused" && name == tool) {
					t.Errorf("%s with %s: %s", state, toolset, said)
				}
			}
		}
	}
	f := newFakes(t)
	f.Program("pflow-exec", `case "$*" in
*" status "*) echo '{"run_id":"r1","status":"interrupted"}';;
*) echo '{"success":false,"run_id":"r1","status":"interrupted","error":{"type":"execution_error","message":"it was killed"}}'; exit 1;;
esac`)
	if got := f.printed("pflow://runs/r1/outputs/total"); !strings.HasPrefix(got, "not_found: ") {
		t.Errorf("%q", got)
	}
	f.Program("pflow-exec", `case "$*" in *" status "*) echo '{"run_id":"r1","status":"completed"}';; *) exit 137;; esac`)
	if got := f.printed("pflow://runs/r1/outputs/total"); got != "protocol_error: pflow-exec failed with exit status 137" {
		t.Errorf("%q", got)
	}
}

// TestResourcesAreCommands: each resource is one command, with the values of its URI after -- and decoded once.
func TestResourcesAreCommands(t *testing.T) {
	for uri, want := range map[string]string{
		"pflow://guide":                        "pflow-lib --quiet guide",
		"pflow://schema":                       "pflow-lib --quiet schema",
		"pflow://nodes/mcp-a-b":                "pflow-lib --quiet search --format json --no-workflows --type=mcp-a-b",
		"pflow://nodes/--help":                 "pflow-lib --quiet search --format json --no-workflows --type=--help",
		"pflow://workflows/greet":              "pflow-lib --quiet show -- greet",
		"pflow://workflows/%C3%A9%2525":        "pflow-lib --quiet show -- é%25",
		"pflow://workflows/é":                  "pflow-lib --quiet show -- é",
		"pflow://workflows/..%2F..%2Fx":        "pflow-lib --quiet show -- ../../x",
		"pflow://runs/last":                    "pflow-exec --quiet status --format json -- last",
		"pflow://runs/r1/nodes/a%2Fb":          "pflow-exec --quiet show --format json --max-output-chars=0 -- r1 a/b",
		"pflow://runs/r1/nodes/a/b":            "pflow-exec --quiet show --format json --max-output-chars=0 -- r1 a/b",
		"pflow://runs/r1/outputs/a%20b%2Fc?d#": "pflow-exec --quiet wait --format json --timeout=1ms --print=a b/c?d# -- r1",
		"pflow://runs/r1/logs":                 "pflow-exec --quiet logs --format text -- r1",
		"pflow://runs/r1/logs/a%2Fb":           "pflow-exec --quiet logs --format text -- r1 a/b",
	} {
		f := newFakes(t)
		f.Program("pflow-lib", "echo printed")
		f.Program("pflow-exec", "echo printed")
		f.printed(uri)
		if got := f.Calls(); !slices.Equal(got, []string{want}) {
			t.Errorf("%s calls %q, not %q", uri, got, want)
		}
	}
}

// TestURIsThatAreNoResource start nothing. The fault lists what there is.
func TestURIsThatAreNoResource(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-lib", "echo printed")
	f.Program("pflow-exec", "echo printed")
	for _, uri := range []string{
		"", "pflow:", "pflow://", "pflow://guide/", "pflow://guide/x", "pflow://guid", "PFLOW://guide", "pflow://nodes", "pflow://nodes/", "pflow://nodes/a/b",
		"pflow://nodes/%00", "pflow://nodes/a%0Ab", "pflow://nodes/%", "pflow://workflows/../x", "pflow://runs/", "pflow://runs//outputs/x", "pflow://runs/r1/", "pflow://runs/r1/x",
		"pflow://runs/r1/outputs", "pflow://runs/r1/outputs/", "pflow://runs/r1/nodes/", "file:///etc/passwd", "/etc/passwd", "http://127.0.0.1/", strings.Repeat("x", 100_000),
	} {
		_, err := f.front().Read(t.Context(), uri)
		missing := fault.From(err)
		if missing == nil || missing.Type != fault.NotFound || len(missing.Available) != len(f.front().Resources()) || len(missing.Suggestions) == 0 || len(missing.Message) > 300 {
			t.Errorf("%.50q: %+v", uri, missing)
		}
	}
	if got := f.Calls(); got != nil {
		t.Errorf("started %q", got)
	}
}

func TestReadWorkflowKeepsItsBytes(t *testing.T) {
	for text, mime := range map[string]string{
		"\n {\"nodes\": []} \n\n":   "application/json",
		"\ufeff{\"nodes\": []}":     "application/json",
		"# Title\n\n{}\n":           "text/markdown",
		"---\nversion: 1\n---\n# T": "text/markdown",
	} {
		f := newFakes(t)
		f.Program("pflow-lib", "cat <<'END'\n"+text+"\nEND")
		content, err := f.front().Read(t.Context(), "pflow://workflows/x")
		if err != nil || content.Text != text+"\n" || content.MIMEType != mime {
			t.Errorf("%q is %+v, %v", text, content, err)
		}
	}
}

// TestReadNodeType: the document is the node type alone; an answer without it is no such type.
func TestReadNodeType(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-lib", `case "$*" in *=echo) echo '{"nodes":[{"type":"echo","inputs":[]}],"total":1}';; *) echo '{"nodes":[],"total":0}';; esac`)
	if got := f.printed("pflow://nodes/echo"); got != `{"type":"echo","inputs":[]}` {
		t.Errorf("%q", got)
	}
	if got := f.printed("pflow://nodes/x"); !strings.HasPrefix(got, "not_found: ") {
		t.Errorf("%q", got)
	}
}

// TestReadLongLogs: of a long log the end is returned, beginning with a whole line after a line that says so.
func TestReadLongLogs(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-exec", `seq 1 400000`)
	got := f.printed("pflow://runs/r1/logs/a")
	lines := strings.Split(got, "\n")
	if len(got) > maxLog+100 || len(got) < maxLog-100 || !strings.HasSuffix(got, "\n399999\n400000\n") || !strings.HasPrefix(lines[0], "(") {
		t.Errorf("%d bytes: %.50q…", len(got), got)
	}
	f.Program("pflow-exec", `seq 1 10`)
	if got := f.printed("pflow://runs/r1/logs"); got != "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n" {
		t.Errorf("%q", got)
	}
	f.Program("pflow-exec", `case "$*" in *json*) echo '{"success":false,"error":{"type":"not_found","message":"no such node"}}';; esac; exit 2`)
	if got := f.printed("pflow://runs/r1/logs/b"); got != "not_found: no such node" {
		t.Errorf("%q", got)
	}
}

// TestReadLongNodes: a document that is too long is read again without its long texts; one that is still too long is a fault.
func TestReadLongNodes(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-exec", `case "$*" in *chars=0*r1*|*r2*) seq 1 400000;; *) echo short;; esac`)
	if got := f.printed("pflow://runs/r1/nodes/a"); got != "short\n" {
		t.Errorf("%d bytes", len(got))
	}
	if got := f.printed("pflow://runs/r2/nodes/a"); !strings.HasPrefix(got, "too_large: ") {
		t.Errorf("%.100s", got)
	}
}

func TestReadsThatFail(t *testing.T) {
	for script, want := range map[string]string{
		`echo '{"success":false,"error":{"type":"security_error","message":"no"}}'; exit 2`:   "security_error: no",
		`echo '{"success":false,"error":{"type":"validation_error","message":"no"}}'; exit 2`: "not_found: no",
		`echo '{"success":false,"error":{"type":"internal_error","message":"no"}}'; exit 1`:   "internal_error: no",
		`echo half; echo why >&2; exit 3`: "protocol_error: pflow-lib failed with exit status 3",
		`kill -KILL $$`:                   "protocol_error: pflow-lib failed with exit status 137",
	} {
		f := newFakes(t)
		f.Program("pflow-lib", script)
		if got := f.printed("pflow://workflows/x"); got != want {
			t.Errorf("%s: %q, not %q", script, got, want)
		}
	}
	if got := newFakes(t).printed("pflow://guide"); !strings.HasPrefix(got, "unavailable: ") {
		t.Errorf("%q", got)
	}
}
