package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// greet is a workflow with inputs and outputs.
const greet = `{"inputs":{"who":{"type":"string"},"n":{"type":"integer","default":1}},
	"nodes":[{"id":"say","type":"echo","params":{"message":"hello ${who}","count":"${n}","data":{"n":"${n}"}}}],
	"outputs":{"text":{"source":"${say.echo}"},"n":{"source":"${say.data.n}"}}}`

func TestASubWorkflowGivesItsDeclaredOutputs(t *testing.T) {
	for name, c := range map[string]struct{ params, outputs string }{
		"by name":          {`{"workflow":"greet","inputs":{"who":"${src.data.who}","n":2}}`, `{"n":2,"text":"hello Ann hello Ann"}`},
		"inline":           {`{"workflow":` + greet + `,"inputs":{"who":"${src.data.who}"}}`, `{"n":1,"text":"hello Ann"}`},
		"upstream's words": {`{"workflow_name":"greet","param_mapping":{"who":"${src.data.who}"},"output_mapping":{"text":"words"}}`, `{"n":1,"words":"hello Ann"}`},
		"upstream's path":  {`{"workflow_ref":"greet","param_mapping":{"who":"B"}}`, `{"n":1,"text":"hello B"}`},
		"upstream's ir":    {`{"workflow_ir":` + greet + `,"param_mapping":{"who":"${src.data.who}"}}`, `{"n":1,"text":"hello Ann"}`},
		"by a template":    {`{"workflow":"${src.data.which}","inputs":{"who":"C"}}`, `{"n":1,"text":"hello C"}`},
		"coerced":          {`{"workflow":"greet","inputs":{"who":7,"n":"3"}}`, `{"n":3,"text":"hello 7 hello 7 hello 7"}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.saved["greet"] = greet
			p := b.play(t.Context(), `{"nodes":[{"id":"src","type":"echo","params":{"data":{"who":"Ann","which":"greet"}}},{"id":"s","type":"workflow","params":`+c.params+`}],
				"outputs":{"all":{"source":"s"},"src":{"source":"${src.data.who}"}}}`)
			p.ended(t, event.Completed)
			if got := p.get("all"); got != c.outputs {
				t.Errorf("got  %s\nwant %s", got, c.outputs)
			}
			if got := p.nodes(event.NodeCompleted); got != "s s/say src" {
				t.Errorf("nodes %s", got)
			}
		})
	}
}

func TestASubWorkflowWithoutOutputsGivesItsEnds(t *testing.T) {
	p := newBench(t).play(t.Context(), `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":{"nodes":[{"id":"a","type":"echo"},{"id":"b","type":"echo","params":{"data":"${a.echo}"}}]}}},
		{"id":"after","type":"echo","params":{"data":"${s.b.data}"}}]}`)
	if got := p.get("after.data"); got != `"Hello, World!"` {
		t.Errorf("%s %+v", got, p.last.Error)
	}
}

// Faults that show only at run time: the workflow, or a value, comes from a template.
func TestASubWorkflowThatCannotRun(t *testing.T) {
	for name, c := range map[string]struct {
		params string
		kind   fault.Type
		words  []string
	}{
		"it is not there":     {`{"workflow":"${src.data.none}"}`, fault.NotFound, []string{`no workflow "nowhere"`}},
		"it names none":       {`{"workflow":"${src.data.null}"}`, fault.Validation, []string{`Node "s" names no workflow to run`}},
		"it has faults":       {`{"workflow":"${src.data.bad}"}`, fault.Validation, []string{`nope`}},
		"an input is missing": {`{"workflow":"${src.data.greet}"}`, fault.Template, []string{`The workflow "greet" cannot run: Template ${who} not resolved`}},
		"one is unknown":      {`{"workflow":"${src.data.greet}","inputs":{"who":"x","hwo":1}}`, fault.Validation, []string{`The workflow "greet" cannot run`, `no input "hwo"`}},
		"one does not fit":    {`{"workflow":"greet","inputs":{"who":"x","n":"${src.data.none}"}}`, fault.Validation, []string{`The workflow "greet" cannot run: Input "n" must be of type integer, and "nowhere" is not`}},
		"null is required":    {`{"workflow":"greet","inputs":{"who":"${src.data.null}"}}`, fault.Template, []string{`Template ${who} not resolved`}},
		"an output is not":    {`{"workflow":"poor"}`, fault.Template, []string{`Output "y": template ${n.data.y} not resolved`}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.saved["greet"], b.saved["bad"] = greet, `{"nodes":[{"id":"n","type":"nope"}]}`
			b.saved["poor"] = `{"nodes":[{"id":"n","type":"echo","params":{"data":{}}}],"outputs":{"y":{"source":"${n.data.y}"}}}`
			p := b.play(t.Context(), `{"nodes":[{"id":"src","type":"echo","params":{"data":{"none":"nowhere","null":null,"bad":"bad","greet":"greet"}}},
				{"id":"s","type":"workflow","params":`+c.params+`,"retry":{"max":3}}]}`)
			p.failed(t, c.kind, c.words...)
			if e := p.last.Error; e != nil && e.Node != "s" || len(p.of(event.NodeFailed)) != 1 {
				t.Errorf("node %s, %d failures", e.Node, len(p.of(event.NodeFailed)))
			}
		})
	}
}

func TestAFailureNamesTheInnerNode(t *testing.T) {
	s, b := failing(t), newBench(t)
	b.saved["inner"] = `{"nodes":[` + s.node("call", "bad", "") + `,` + s.node("next", "never", "") + `],"edges":[{"from":"call","to":"next"}]}`
	b.saved["outer"] = `{"nodes":[{"id":"deep","type":"workflow","params":{"workflow":"inner"}}]}`
	p := b.play(t.Context(), `{"nodes":[{"id":"top","type":"workflow","params":{"workflow":"outer"}},{"id":"last","type":"echo","params":{"data":"${top.deep ?? 1}"}}],"edges":[{"from":"top","to":"last"}]}`)
	p.failed(t, fault.Execution, `The workflow "outer" failed at its node "deep": The workflow "inner" failed at its node "call": HTTP 418`)
	if p.last.Error.Node != "top" || p.last.Checkpoint.FailedNode != "top" {
		t.Errorf("%+v", p.last.Error)
	}
	if f, c := p.nodes(event.NodeFailed), p.nodes(event.NodeCancelled); f != "top top/deep top/deep/call" || c != "last top/deep/next" {
		t.Errorf("failed %s, cancelled %s", f, c)
	}
	for _, e := range p.of(event.NodeCancelled) {
		if want := map[string]string{"last": "top", "top/deep/next": "top/deep/call"}[e.Node]; e.Cause != want {
			t.Errorf("%s was cancelled because of %s", e.Node, e.Cause)
		}
	}
}

func TestAnErrorEdgeTakesTheFailureOfASubWorkflow(t *testing.T) {
	s, b := failing(t), newBench(t)
	b.saved["sub"] = `{"nodes":[` + s.node("call", "bad", "") + `]}`
	p := b.play(t.Context(), `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":"sub"}},{"id":"mend","type":"echo","params":{"message":"${s.call.response ?? \"none\"}"}}],"edges":[{"from":"s","to":"mend","action":"error"}]}`)
	p.ended(t, event.Degraded)
	if p.get("mend.echo") != `"none"` || len(p.last.Warnings) != 1 || !strings.Contains(p.last.Warnings[0], `node s failed and an error edge took it: The workflow "sub" failed at its node "call"`) {
		t.Errorf("%s %q", p.last.Outputs, p.last.Warnings)
	}
}

func TestKeepGoingInsideASubWorkflow(t *testing.T) {
	s, b := failing(t), newBench(t)
	b.saved["sub"] = `{"nodes":[` + s.node("call", "bad", "") + `,` + s.node("other", "a", "") + `,` + s.node("more", "${other.response}b", "") + `]}`
	p := b.play(t.Context(), `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":"sub"}},`+s.node("beside", "c", "")+`,{"id":"after","type":"echo","params":{"data":"${s.call}"}}]}`,
		func(c *engine.Config) { c.KeepGoing, c.Jobs = true, 1 })
	p.failed(t, fault.Execution, `failed at its node "call"`)
	if got := p.nodes(event.NodeCompleted); got != "beside s/more s/other" {
		t.Errorf("completed %s", got)
	}
}

// A sub-workflow uses no slot: its nodes do.
func TestSubWorkflowsDoNotWaitForEachOther(t *testing.T) {
	b := newBench(t)
	b.saved["leaf"] = `{"nodes":[{"id":"a","type":"echo"},{"id":"b","type":"echo","params":{"data":"${a.echo}"}}]}`
	b.saved["mid"] = `{"nodes":[{"id":"x","type":"workflow","params":{"workflow":"leaf"}},{"id":"y","type":"workflow","params":{"workflow":"leaf"},"batch":{"items":[1,2,3],"parallel":true}}]}`
	var nodes []string
	for i := range 4 {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"workflow","params":{"workflow":"mid"}}`, i))
	}
	p := b.play(t.Context(), `{"nodes":[`+strings.Join(nodes, ",")+`]}`, func(c *engine.Config) { c.Jobs = 1 })
	p.ended(t, event.Completed)
	if got := len(p.of(event.NodeCompleted)); got != 4*(1+2+2+6) {
		t.Errorf("%d nodes", got)
	}
}

// The waiting node with the longest chain behind it gets a slot first, also if the chain is outside its workflow.
func TestWhatHasMostBehindItGoesFirst(t *testing.T) {
	p := newBench(t).play(t.Context(), `{"nodes":[{"id":"x","type":"echo"},{"id":"s","type":"workflow","params":{"workflow":{"nodes":[{"id":"i","type":"echo"}]}}},
		{"id":"y","type":"echo","params":{"data":"${s.i.echo}"}}]}`, func(c *engine.Config) { c.Jobs = 1 })
	var order []string
	for _, e := range p.of(event.NodeStarted) {
		order = append(order, e.Node)
	}
	if got := strings.Join(order, " "); got != "s s/i x y" && got != "s s/i y x" {
		t.Errorf("%s", got)
	}
}

func TestWorkflowsRunInOneAnotherOnlySoDeep(t *testing.T) {
	b := newBench(t)
	b.saved["again"] = `{"inputs":{"n":{}},"nodes":[{"id":"s","type":"workflow","params":{"workflow":"${n}","inputs":{"n":"${n}"}},"retry":{"max":4}}]}`
	p := b.play(t.Context(), b.saved["again"], func(c *engine.Config) { c.Inputs["n"] = json.RawMessage(`"again"`) })
	p.failed(t, fault.Validation, "depth 11", "at most 10 deep")
	if got := len(p.of(event.NodeStarted)); got != 11 {
		t.Errorf("%d were started", got)
	}
}

func TestASecretInputOfASubWorkflowIsRedacted(t *testing.T) {
	b := newBench(t)
	b.saved["login"] = `{"inputs":{"key":{"secret":true},"api_token":{}},"nodes":[{"id":"n","type":"echo","params":{"message":"<${key}> <${api_token}>"}}],"outputs":{"text":{"source":"${n.echo}"}}}`
	p := b.play(t.Context(), `{"nodes":[{"id":"make","type":"echo","params":{"data":["correct","horse"]}},
		{"id":"s","type":"workflow","params":{"workflow":"login","inputs":{"key":"${make.data[0]}-${make.data[1]}","api_token":"${make.data[1]}-${make.data[0]}"}}},
		{"id":"use","type":"shell","params":{"command":"test \"${s.text}\" = \"<${make.data[0]}-${make.data[1]}> <${make.data[1]}-${make.data[0]}>\" && echo whole"}}]}`)
	p.ended(t, event.Completed)
	if got := p.get("use.stdout"); got != `"whole"` {
		t.Errorf("%s", got)
	}
	if journal := bytes.Join(p.lines, nil); bytes.Contains(journal, []byte("correct-horse")) || bytes.Contains(journal, []byte("horse-correct")) || !bytes.Contains(journal, []byte("<redacted>")) {
		t.Error("a secret is in the journal")
	}
	for _, e := range p.of(event.NodeCompleted) {
		if (e.Node == "s" || e.Node == "s/n") && !e.Redacted {
			t.Errorf("%s does not say that something was taken out", e.Node)
		}
	}
}

// A node of a sub-workflow is not the node of the same name outside.
func TestNodesOfOneNameDoNotMix(t *testing.T) {
	b := newBench(t)
	b.saved["sub"] = `{"inputs":{"n":{}},"nodes":[{"id":"n","type":"echo","params":{"data":"${n}"}},{"id":"m","type":"echo","params":{"data":"${n}"}}],"outputs":{"a":{"source":"${m.data}"}}}`
	p := b.play(t.Context(), `{"nodes":[{"id":"n","type":"echo","params":{"data":"outer"}},{"id":"m","type":"workflow","params":{"workflow":"sub","inputs":{"n":"${n.data}"}}}],"outputs":{"a":{"source":"${m.a}"}}}`)
	if got := p.get("a"); got != `"outer"` { // an input wins over a node of its name
		t.Errorf("%s %+v", got, p.last.Error)
	}
}

// A changed sub-workflow runs again, also one that an inner node runs or that a template names.
func TestAChangedSubWorkflowRunsAgain(t *testing.T) {
	for name, ref := range map[string]string{"by name": "mid", "by a template": "${which.data}"} {
		t.Run(name, func(t *testing.T) {
			s, b := newService(t), newBench(t)
			leaf := func(path string) string {
				return `{"nodes":[` + s.node("a", "same", "") + `,` + s.node("b", path, "") + `]}`
			}
			b.saved["leaf"] = leaf("one")
			b.saved["mid"] = `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":"leaf"}}]}`
			def := `{"nodes":[{"id":"which","type":"echo","params":{"data":"mid"}},{"id":"m","type":"workflow","params":{"workflow":"` + ref + `"}},` + s.node("other", "other", "") + `]}`
			first := b.play(t.Context(), def)
			first.ended(t, event.Completed)
			b.play(t.Context(), def, first.whole(b))
			if got := strings.Join(s.called(), " "); got != "one other same" {
				t.Errorf("unchanged: called %s", got)
			}
			b.saved["leaf"] = leaf("two")
			second := b.play(t.Context(), def, first.whole(b))
			second.ended(t, event.Completed)
			if got := strings.Join(s.called(), " "); got != "one other same two" {
				t.Errorf("changed: called %s", got)
			}
		})
	}
}

func TestAHeldCallOfASubWorkflowGoesOnAfterAKill(t *testing.T) {
	s, b := newService(t), newBench(t)
	s.answer = func(path string, _ int, _ <-chan struct{}) (int, string) { return http.StatusOK, `"` + path + `"` }
	b.saved["leaf"] = `{"inputs":{"x":{}},"nodes":[` + s.node("each", "${x}${item}", `,"batch":{"items":[1,2,3,4]}`) + `],"outputs":{"all":{"source":"${each.results}"}}}`
	b.saved["mid"] = `{"inputs":{"x":{}},"nodes":[{"id":"leaf","type":"workflow","params":{"workflow":"leaf","inputs":{"x":"${x}"}}}],"outputs":{"all":{"source":"${leaf.all}"}}}`
	def := `{"nodes":[{"id":"m","type":"workflow","params":{"workflow":"mid","inputs":{"x":"x"}}}],"outputs":{"n":{"source":"${m.all[3].response}"}}}`
	first := b.play(t.Context(), def)
	items := 0
	for i, e := range first.events { // only items of a batch two workflows below are done
		if e.Event == event.ItemCompleted {
			if items++; items == 3 {
				s.forget()
				second := b.play(t.Context(), def, first.from(b, i+1))
				if got := strings.Join(s.calls, " "); got != "x4" || second.get("n") != `"x4"` {
					t.Errorf("called %s, %s", got, second.last.Outputs)
				}
			}
		}
	}
	if items != 4 {
		t.Errorf("%d items", items)
	}
}
