package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// hostile are texts that would become markup or code on a page that does not escape them.
var hostile = []string{
	"</script><script>alert(1)</script>", "</style><b>", "<img src=x onerror=alert(1)>", `"><svg onload=alert(1)>`, "javascript:alert(1)", " javascript:alert(1)", "' onclick='x",
	"</title><h1>", "-->", "<!--", "]]>", "</pre></details></main>", "{{.Name}}", "&lt;b&gt;", "&#x3c;b>", "\u202egnp.exe", "\u2066\u200f", "\x00", "\x1b[2J", "<\x00script>", "\ufeff", "\u2028", "\xff<b",
	"${a.x}", "$blob", "\r\n", "a/b[0]#1/c", "#n0", "+ADw-script+AD4-", strings.Repeat("<b>", 2000),
}

func anyText(t *rapid.T, what string) string {
	return rapid.OneOf(rapid.SampledFrom(hostile), rapid.SampledFrom([]string{"a", "b", "a/b", "a[0]/b", "a#2/b", "c"}), rapid.String()).Draw(t, what)
}

func anyJSON(t *rapid.T, what string) json.RawMessage {
	ref := map[string]any{"$blob": anyText(t, what), "bytes": rapid.Int().Draw(t, what), "mime": rapid.SampledFrom([]string{"text/plain", "application/json", "x"}).Draw(t, what), "head": anyText(t, what)}
	value := rapid.SampledFrom([]any{nil, 1, anyText(t, what), ref, []any{ref, anyText(t, what)}, map[string]any{anyText(t, what): anyText(t, what), "$base64": 3}, map[string]any{"stdout": ref}}).Draw(t, what)
	raw, err := rawjson.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func anyFault(t *rapid.T) *fault.Fault {
	f := fault.New(fault.Type(anyText(t, "type")), "%s", anyText(t, "message")).Suggest("%s", anyText(t, "suggestion")).Detail(anyText(t, "key"), anyText(t, "detail"))
	f.Node, f.Path, f.File, f.Line, f.Column = anyText(t, "node"), anyText(t, "path"), anyText(t, "file"), rapid.IntRange(-1, 3).Draw(t, "line"), 1
	f.Missing, f.Available = []string{anyText(t, "missing")}, []string{anyText(t, "available")}
	f.Errors = []*fault.Fault{nil, fault.New(fault.Timeout, "%s", anyText(t, "message"))}
	return f
}

// anyFields returns the schema of an answer, or something else.
func anyFields(t *rapid.T) json.RawMessage {
	text := func(what string) string { return string(rawjson.Quote(strings.ToValidUTF8(anyText(t, what), "?"))) }
	kind := rapid.SampledFrom([]string{`"string"`, `"number"`, `"integer"`, `"boolean"`, `"array"`, `7`, `["x"]`}).Draw(t, "kind")
	return json.RawMessage(rapid.SampledFrom([]string{
		``, `7`, `{"properties":[1]}`,
		`{"properties":{` + text("name") + `:{"type":` + kind + `,"title":` + text("title") + `,"default":` + text("default") + `,"description":` + text("about") +
			`,"enum":[` + text("one") + `,2],"items":{"enum":[` + text("two") + `]}},"b":{"type":` + kind + `,"oneOf":[{"const":` + text("three") + `,"title":` + text("shown") + `}]}},"required":[` + text("name") + `,"b"]}`,
	}).Draw(t, "fields"))
}

var kinds = []event.Kind{
	event.RunStarted, event.NodeStarted, event.NodeStarted, event.NodeProgress, event.NodeCompleted, event.NodeReused, event.NodeFailed, event.NodeSkipped, event.NodeCancelled, event.ItemCompleted,
	event.IterationCompleted, event.ApprovalRequested, event.ApprovalResolved, event.RunFinished, event.RunRefused, "unheard_of",
}

func anyEvent(t *rapid.T) *event.Event {
	e := &event.Event{
		Event: rapid.SampledFrom(kinds).Draw(t, "event"), Run: anyText(t, "run"), Node: anyText(t, "node"), Time: time.Unix(0, rapid.Int64().Draw(t, "time")).UTC(),
		Iteration: rapid.IntRange(-1, 3).Draw(t, "iteration"), Attempt: rapid.IntRange(-1, 3).Draw(t, "attempt"), Type: anyText(t, "type"), Message: anyText(t, "message"),
		Action: anyText(t, "action"), Outputs: anyJSON(t, "outputs"), FromRun: anyText(t, "from run"), Question: anyText(t, "question"), Choices: []string{anyText(t, "choice")},
		AnyAnswer: rapid.Bool().Draw(t, "any answer"), Fields: anyFields(t), Params: anyJSON(t, "params"), Answer: anyText(t, "answer"), By: anyText(t, "by"), Reason: anyText(t, "reason"), Cause: anyText(t, "cause"), Status: event.Status(anyText(t, "status")), Resume: &fault.Step{Do: fault.DoResume, Run: anyText(t, "resume")},
		Warnings: []string{anyText(t, "warning")}, Cwd: anyText(t, "cwd"), Inputs: anyJSON(t, "inputs"), ResumedFrom: anyText(t, "resumed from"),
	}
	if rapid.Bool().Draw(t, "fails") {
		e.Error = anyFault(t)
	}
	if k := rapid.IntRange(-3, 3).Draw(t, "item"); k >= 0 {
		e.Item, e.Items = &k, &k
	}
	if ms := rapid.Float64().Draw(t, "duration"); rapid.Bool().Draw(t, "took") {
		e.DurationMS = &ms
	}
	if e.Event == event.RunStarted {
		e.Nodes = []string{anyText(t, "id"), "a"}
		params := `{"command":` + string(rawjson.Quote(strings.ToValidUTF8(anyText(t, "command"), "?")+" ${a.stdout} ${b ?? c}")) + `}`
		definition := `{"description":` + string(rawjson.Quote(strings.ToValidUTF8(anyText(t, "description"), "?"))) + `,"nodes":[{"id":"a","type":"shell","purpose":` +
			string(rawjson.Quote(strings.ToValidUTF8(anyText(t, "purpose"), "?"))) + `,"batch":{"items":[1]},"params":` + params + `},{"id":"b","type":"x","params":` + params + `}]}`
		e.Workflow = &event.Workflow{Name: anyText(t, "name"), Path: anyText(t, "path"), Definition: json.RawMessage(definition)}
	}
	return e
}

// checkFragment checks a fragment inside a page that adds nothing.
func checkFragment(t interface {
	Helper()
	Fatalf(string, ...any)
}, fragment string,
) {
	t.Helper()
	for _, never := range []string{"<script", "<style", " style=", "<form"} {
		if strings.Contains(fragment, never) {
			t.Fatalf("the fragment has %s", never)
		}
	}
	checkPage(t, "<!doctype html>\n<html><head><title></title><style></style></head><body><main>"+fragment+"</main><script></script></body></html>")
}

// Any bytes that can be read as events result in a page.
func FuzzWrite(f *testing.F) {
	f.Add(`{"v":1,"seq":1,"event":"run_started","run":"r","time":"2026-01-01T00:00:00Z","workflow":{"definition":[]},"nodes":["</script>"]}` + "\n")
	for _, text := range hostile {
		quoted := string(rawjson.Quote(strings.ToValidUTF8(text, "?")))
		f.Add(`{"v":1,"seq":1,"event":"node_failed","node":` + quoted + `,"run":"r","time":"2026-01-01T00:00:00Z","error":{"message":` + quoted + `},"outputs":{` + quoted + `:` + quoted + `}}` + "\n")
	}
	f.Fuzz(func(t *testing.T, stream string) {
		h, err := history.Read(strings.NewReader(stream))
		if err != nil {
			t.Skip()
		}
		var page strings.Builder
		if err := Write(&page, h, Options{}); err != nil {
			t.Fatal(err)
		}
		checkPage(t, page.String())
	})
}

// The elements and attributes of a page. None loads, submits or runs anything except the one script.
var (
	elements = strings.Fields(`article html head meta title style body a header h1 h2 h3 h4 h5 h6 p span dl div dt dd time code nav ul li main section details summary pre table caption thead tbody tr th td
		svg g defs line use rect path text title script input label button kbd blockquote strong select option`)
	attributes = strings.Fields(`lang charset http-equiv content name class href id aria-labelledby aria-label aria-hidden aria-pressed tabindex role scope datetime data-state data-name open hidden
		data-run data-workflow data-status data-live data-node data-key data-open data-only data-slow data-action data-answer data-type data-resumed-by value multiple selected checked required step
		for type autocomplete spellcheck xmlns width height viewBox x y x1 x2 y1 y2 d rx`)
	anchor = regexp.MustCompile(`^#[a-z0-9]+(-[a-z]+)*$`)
)

// checkPage parses a page, whose template follows the rules of XML, and checks every element and attribute.
func checkPage(t interface {
	Helper()
	Fatalf(string, ...any)
}, page string,
) {
	t.Helper()
	if !strings.HasPrefix(page, "<!doctype html>\n") {
		t.Fatalf("it begins with %.40q", page)
	}
	dec := xml.NewDecoder(strings.NewReader(page))
	dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	count, ids, links, level, inside, policy := map[string]int{}, map[string]bool{}, map[string]bool{}, 0, "", ""
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, page)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			inside = name
			count[name]++
			if !slices.Contains(elements, name) {
				t.Fatalf("an element %s", name)
			}
			if len(name) == 2 && name[0] == 'h' && name[1] > '0' && name[1] <= '6' {
				next, _ := strconv.Atoi(name[1:])
				if next > level+1 {
					t.Fatalf("a heading of level %d follows one of level %d", next, level)
				}
				level = next
			}
			for _, a := range token.Attr {
				switch key := a.Name.Local; {
				case !slices.Contains(attributes, key):
					t.Fatalf("an attribute %s of %s", key, name)
				case key == "id" && ids[a.Value]:
					t.Fatalf("the id %s stands twice", a.Value)
				case key == "id":
					ids[a.Value] = true
				case key == "href" && !anchor.MatchString(a.Value):
					t.Fatalf("a link to %s", a.Value)
				case key == "href", key == "aria-labelledby", key == "for":
					links[strings.TrimPrefix(a.Value, "#")] = true
				case key == "content" && strings.HasPrefix(a.Value, "default-src"):
					policy = a.Value
				case strings.ContainsFunc(a.Value, hidden):
					t.Fatalf("%s of %s hides something: %q", key, name, a.Value)
				}
			}
		case xml.EndElement:
			inside = ""
		case xml.CharData:
			text := string(token)
			switch {
			case strings.ContainsFunc(text, hidden):
				t.Fatalf("a text hides something: %q", text)
			case (inside == "script" || inside == "style") && !strings.Contains(policy, hash(text)):
				t.Fatalf("the policy %s does not let the %s pass", policy, inside)
			}
		case xml.Comment, xml.ProcInst:
			t.Fatalf("%v", token)
		}
	}
	for _, once := range []string{"html", "head", "title", "style", "script", "body", "main", "h1"} {
		if once == "title" { // the graph's boxes have titles too
			continue
		}
		if count[once] != 1 {
			t.Fatalf("%d elements %s", count[once], once)
		}
	}
	for link := range links {
		if !ids[link] {
			t.Fatalf("a link leads to #%s, which is nowhere", link)
		}
	}
}
