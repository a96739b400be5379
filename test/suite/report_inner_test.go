package suite

import (
	"strings"
	"testing"
)

// The definition of a workflow that nodes run by its name is once in the events, so that the report shows what the nodes inside ran with.
func TestNodesOfAnotherWorkflowAreReportedWithTheirParameters(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("inner.json", `{"inputs":{"k":{"type":"number"}},"nodes":[{"id":"one","type":"shell","params":{"command":"echo ${k}"}},
		{"id":"two","type":"shell","purpose":"Says it again","params":{"command":"echo again ${one.stdout} hush-hush"}}],"outputs":{"said":{"source":"${two.stdout}"}}}`)
	p.write("middle.json", `{"nodes":[{"id":"deep","type":"workflow","params":{"workflow":"./inner.json","inputs":{"k":9}}}]}`)
	p.write("w.json", `{"inputs":{"pin":{"type":"string","secret":true}},"nodes":[{"id":"each","type":"workflow","batch":{"items":[1,2,3]},"params":{"workflow":"./inner.json","inputs":{"k":"${item}"}}},
		{"id":"mid","type":"workflow","params":{"workflow":"./middle.json"}}]}`)
	events := p.must("pflow-exec", "run", "w.json", "pin=hush-hush")
	if n := strings.Count(events, "Says it again"); n != 1 {
		t.Errorf("the definition stands %d times in the events", n)
	}
	if strings.Contains(events, "hush-hush") {
		t.Error("the definition has a secret")
	}
	for name, page := range map[string]string{"report": p.must("pflow-exec", "report", "last"), "fragment": p.must("pflow-exec", "report", "last", "--fragment")} {
		for _, want := range []string{"<code>echo ${k}</code>", "<code>echo again 2 &lt;redacted&gt;</code>", "<code>echo again 9 &lt;redacted&gt;</code>"} {
			if !strings.Contains(page, want) {
				t.Errorf("the %s lacks %q", name, want)
			}
		}
		if n := strings.Count(page, ">Says it again<"); n != 4 {
			t.Errorf("%d nodes of the %s have their purpose", n, name)
		}
	}
	if o := p.fed(events, "pflow-exec", "report", "-"); !strings.Contains(o.stdout, "<code>echo again 2 &lt;redacted&gt;</code>") {
		t.Error("the report of the events lacks the parameters")
	}
}
