package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// fragmentOf returns the fragment of a run whose events are lines of JSON without the fields that all have.
func fragmentOf(t *testing.T, o Options, lines ...string) string {
	t.Helper()
	var stream strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&stream, `{"v":1,"seq":%d,"run":"r1","time":"2026-01-01T00:00:%02d.%03dZ",%s`+"\n", i+1, i/1000, i%1000, line[1:])
	}
	h, err := history.Read(strings.NewReader(stream.String()))
	if err != nil {
		t.Fatal(err)
	}
	var fragment strings.Builder
	if err := WriteFragment(&fragment, h, o); err != nil {
		t.Fatal(err)
	}
	checkFragment(t, fragment.String())
	return fragment.String()
}

func checkHas(t *testing.T, fragment string, has, hasNot []string) {
	t.Helper()
	for _, want := range has {
		if !strings.Contains(fragment, want) {
			t.Errorf("the fragment lacks %q", want)
		}
	}
	for _, not := range hasNot {
		if strings.Contains(fragment, not) {
			t.Errorf("the fragment has %q", not)
		}
	}
}

const asking = `{"event":"run_started","workflow":{"name":"w","digest":"d"},"nodes":["a","b"]}`

func TestOpenQuestionsHaveButtons(t *testing.T) {
	const paused = `{"event":"run_finished","status":"paused","error":{"type":"execution_error","message":"waits","node":"a"},"resume":"pflow-exec resume r1"}`
	buttons := fragmentOf(t, Options{}, asking, `{"event":"approval_requested","node":"a","question":"Go <on>?","choices":["yes","no","a \"b\"","line\nbreak"],"params":{"command":"rm"}}`, paused)
	checkHas(t, buttons, []string{
		`data-status="paused"`, `Go &lt;on&gt;?`, `class="main" data-action="answer" data-node="a" value="yes">Yes<`, `data-node="a" value="no">No<`, `value="a &#34;b&#34;"`, "<code>rm</code>",
	}, []string{"line\nbreak", `data-action="resume"`, "pflow-exec resume", "data-live"})

	text := fragmentOf(t, Options{}, asking, `{"event":"approval_requested","node":"a","question":"Which?","choices":["yes"],"any_answer":true}`, paused)
	checkHas(t, text, []string{`<input type="text" id="ask-0-text"`, `data-answer="text" data-node="a"`, `value="yes"`}, nil)

	form := fragmentOf(t, Options{}, asking, `{"event":"approval_requested","node":"a","question":"Who?","choices":["yes","no","cancel"],"fields":{"type":"object","properties":{`+
		`"name":{"type":"string","title":"Your name","default":"<me>"},"age":{"type":"integer"},"ok":{"type":"boolean","default":true},"pick":{"type":"string","enum":["x","y"],"default":"y"},`+
		`"many":{"type":"array","items":{"enum":["p","q"]},"default":["q"]}},"required":["name"]}}`, paused)
	checkHas(t, form, []string{
		`name="name" data-type="string" value="&lt;me&gt;" autocomplete="off" required`, `type="number" id="ask-0-1" name="age" data-type="integer"`, `name="ok" data-type="boolean" checked`,
		`<option value="y" selected>y</option>`, `name="many" data-type="array" multiple`, `<option value="q" selected>`, `data-answer="fields"`, `value="no">No<`, `value="cancel">Cancel<`,
	}, []string{`value="yes"`})

	answered := fragmentOf(t, Options{ResumedBy: "r2"}, asking, `{"event":"approval_requested","node":"a","question":"Go?","choices":["yes","no"]}`, paused)
	checkHas(t, answered, []string{`data-resumed-by="r2"`, "Run r2 continues it."}, []string{"data-action"})
}

func TestActionsOfARun(t *testing.T) {
	for status, want := range map[event.Status]string{
		running: "cancel", queued: "cancel", interrupted: "resume", event.Failed: "resume", event.Cancelled: "resume", event.TimedOut: "resume", event.Completed: "", event.Denied: "", event.Degraded: "",
	} {
		lines, o := []string{asking}, Options{Status: status}
		if status != running && status != queued && status != interrupted {
			lines, o = append(lines, `{"event":"run_finished","status":"`+string(status)+`"}`), Options{}
		}
		fragment := fragmentOf(t, o, lines...)
		if got := strings.Contains(fragment, `data-action="`+want+`"`); want != "" && !got || want == "" && strings.Contains(fragment, "data-action") {
			t.Errorf("%s: action %q missing, or another one there", status, want)
		}
		if live := strings.Contains(fragment, `data-live="true"`); live != (status == running || status == queued) {
			t.Errorf("%s: live %v", status, live)
		}
	}
	// A run that waits for a place has no events yet.
	checkHas(t, fragmentOf(t, Options{Status: queued, RunID: "r9"}), []string{`data-run="r9"`, "Queued"}, nil)
}

func TestABatchWithFailuresLooksDegraded(t *testing.T) {
	lines := []string{
		`{"event":"run_started","workflow":{"name":"w","digest":"d","definition":{"nodes":[{"id":"a","type":"shell","params":{"command":"echo"},"batch":{"items":["<x>","y","z","v","w","u"],"error_handling":"continue"}}]}},"nodes":["a"]}`,
		`{"event":"node_started","node":"a","type":"shell","items":6,"attempt":1}`,
	}
	for i := range 6 {
		line := fmt.Sprintf(`{"event":"item_completed","node":"a","item":%d,"outputs":{},"duration_ms":%d}`, i, 10+90*(i/5))
		if i == 1 {
			line = `{"event":"node_failed","node":"a","item":1,"error":{"type":"execution_error","message":"it broke"},"duration_ms":10}`
		}
		lines = append(lines, line)
	}
	fragment := fragmentOf(t, Options{}, append(lines, `{"event":"node_completed","node":"a","outputs":{"count":6}}`, `{"event":"run_finished","status":"degraded"}`)...)
	checkHas(t, fragment, []string{
		`<details class="node is-degraded" data-state="degraded" data-name="a shell" open>`, `class="node degraded"`, "6 items, 1 failed",
		`data-only="failed"`, `data-only="slow">Slow: over 20ms<`, `<tr class="is-completed" data-slow="true"><th scope="row"><span class="sign" aria-hidden="true">✓</span>5</th><td>u</td><td>100ms</td>`, "<td>&lt;x&gt;</td>", "<td>it broke</td>",
	}, nil)
	if n := strings.Count(fragment, "data-slow"); n != 1 {
		t.Errorf("%d items are slow", n)
	}
}

func TestNodesInsideHaveTheirParameters(t *testing.T) {
	fragment := fragmentOf(t, Options{},
		`{"event":"run_started","workflow":{"name":"w","digest":"d","definition":{"nodes":[{"id":"sub","type":"workflow","batch":{"items":[1,2]},"params":{"workflow":{"inputs":{"k":{}},"nodes":[`+
			`{"id":"one","type":"shell","params":{"command":"echo ${k} <"}},{"id":"two","type":"shell","purpose":"Twice","params":{"command":"use ${one.stdout}"}}]}}}]}},"nodes":["sub"]}`,
		`{"event":"node_started","node":"sub","type":"workflow","items":2,"attempt":1}`, `{"event":"node_started","node":"sub[1]/one","type":"shell","attempt":1}`,
		`{"event":"node_completed","node":"sub[1]/one","outputs":{"stdout":"first"}}`, `{"event":"node_started","node":"sub[1]/two","type":"shell","attempt":1}`)
	checkHas(t, fragment, []string{"<code>echo ${k} &lt;</code>", "<code>use ${one.stdout}</code>", "<code>use first</code>", ">Twice<"}, []string{"echo  &lt;"})
}

func TestNodesShowServerAndModel(t *testing.T) {
	fragment := fragmentOf(t, Options{}, asking, `{"event":"node_started","node":"a","type":"mcp-files-read","mcp":{"server":"files","tool":"read_file"},"attempt":1}`,
		`{"event":"node_started","node":"b","type":"llm","attempt":1}`, `{"event":"node_completed","node":"b","outputs":{"llm_usage":{"model":"gpt-<5>"}}}`)
	checkHas(t, fragment, []string{"<dt>MCP server</dt><dd><code>files</code>", "<dt>Tool</dt><dd><code>read_file</code>", "<dt>Model</dt><dd><code>gpt-&lt;5&gt;</code>"}, nil)
}

func TestAFragmentFitsItsLimit(t *testing.T) {
	lines := []string{asking}
	for i := range 400 {
		lines = append(lines, fmt.Sprintf(`{"event":"node_completed","node":"n%d","outputs":{"stdout":"%s"}}`, i, strings.Repeat("text ", 500)))
	}
	for _, limit := range []int{10_000, 50_000, 200_000} {
		fragment := fragmentOf(t, Options{MaxBytes: limit}, lines...)
		if len(fragment) > limit || len(fragment) < limit/8 {
			t.Errorf("%d bytes of at most %d", len(fragment), limit)
		}
		if !strings.Contains(fragment, "Not shown here") {
			t.Errorf("with %d bytes the fragment hides that it is not whole", limit)
		}
	}
	h, err := history.Read(strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	var none strings.Builder
	if err := WriteFragment(&none, h, Options{MaxBytes: 10}); fault.From(err) == nil || fault.From(err).Type != fault.TooLarge || none.Len() > 0 {
		t.Errorf("%v, %d bytes", err, none.Len())
	}
}

func TestARunShowsItsBudget(t *testing.T) {
	fragment := fragmentOf(t, Options{Status: running}, `{"event":"run_started","workflow":{"name":"w","digest":"d"},"nodes":["a"],"budget":{"tokens":2000}}`,
		`{"event":"node_completed","node":"a","outputs":{},"usage":{"calls":1,"total_tokens":500}}`)
	checkHas(t, fragment, []string{"<dt>Budget</dt><dd>500 of 2000 tokens</dd>"}, nil)
}

func TestALongDocumentHasItsOwnSize(t *testing.T) {
	long := "[" + strings.Repeat(`{"k":"text"},`, 1000) + "1]"
	v := shownValue(t, `{"$blob":"sha256:j","bytes":13003,"mime":"application/json","head":"["}`, func(string) ([]byte, error) { return []byte(long), nil })
	if v.Note != "The beginning of 13 kB." {
		t.Errorf("%q", v.Note)
	}
}

// maxApp is the most bytes of the MCP App.
const maxApp = 40_000

func TestTheAppIsSmallAndStrict(t *testing.T) {
	var app strings.Builder
	if err := WriteApp(&app, []string{"run_resume", "run_cancel"}); err != nil {
		t.Fatal(err)
	}
	page := app.String()
	if len(page) > maxApp {
		t.Errorf("the App has %d bytes", len(page))
	}
	_, policy, _ := strings.Cut(page, `http-equiv="Content-Security-Policy"`)
	policy, _, _ = strings.Cut(policy, ">")
	checkHas(t, policy, []string{"default-src &#39;none&#39;", "sha256-"}, []string{"unsafe", "http", "data:", "*"})
	checkHas(t, page, []string{`data-tools="run_resume run_cancel"`}, []string{"fetch(", "XMLHttpRequest", "innerHTML", "eval(", "src="})
	for _, once := range []string{"<script>", "</script>", "<style>", "</style>"} {
		if n := strings.Count(page, once); n != 1 {
			t.Errorf("%s stands %d times", once, n)
		}
	}
}
