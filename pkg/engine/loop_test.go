package engine_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// counter is a service that answers with the number of the call, and with whether there should be more: up to three.
func counter(t *testing.T) *service {
	s := newService(t)
	s.answer = func(_ string, n int, _ <-chan struct{}) (int, string) {
		return http.StatusOK, fmt.Sprintf(`{"n":%d,"more":%t}`, n, n < 3)
	}
	return s
}

func TestALoopGoesOnWhileOrUntil(t *testing.T) {
	for name, c := range map[string]struct {
		loop    string
		n       string
		stopped string
		warned  bool
	}{
		"while":                  {`{"while":"${poll.response.more}"}`, "3", `"condition"`, false},
		"until":                  {`{"until":"${poll.response.more}"}`, "1", `"condition"`, false},
		"the most":               {`{"while":"${poll.response.more}","max_iterations":2}`, "2", `"max_iterations"`, true},
		"just the most":          {`{"while":"${poll.response.more}","max_iterations":3}`, "3", `"condition"`, false},
		"one":                    {`{"until":"${poll.response.nothing ?? false}","max_iterations":1}`, "1", `"max_iterations"`, true},
		"by the iteration":       {`{"until":"${limit.data[${__iteration__}]}"}`, "2", `"condition"`, false},
		"a text that says false": {`{"while":"${texts.data[${__iteration__}]}"}`, "2", `"condition"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := counter(t)
			p := newBench(t).play(t.Context(), `{"nodes":[{"id":"limit","type":"echo","params":{"data":[0,0,1]}},{"id":"texts","type":"echo","params":{"data":["","yes","False"]}},`+
				s.node("poll", "p", `,"loop":`+c.loop)+`],"outputs":{"n":{"source":"${poll.response.n}"},"stopped":{"source":"${poll.loop_stopped}"}}}`)
			p.ended(t, event.Completed)
			if p.get("n") != c.n || p.get("stopped") != c.stopped || (len(p.last.Warnings) > 0) != c.warned {
				t.Errorf("n %s, stopped %s, warned %q", p.get("n"), p.get("stopped"), p.last.Warnings)
			}
			n, _ := strconv.Atoi(c.n)
			if got := len(p.of(event.IterationCompleted)); got != n-1 || len(s.calls) != n || *p.last.NodesExecuted != 3 {
				t.Errorf("%d iterations went on, %d calls, %d executed", got, len(s.calls), *p.last.NodesExecuted)
			}
		})
	}
}

func TestWhatALoopCarries(t *testing.T) {
	p := newBench(t).play(t.Context(), `{"inputs":{"first":{}},"nodes":[{"id":"sum","type":"echo",
		"params":{"inputs":{"total":"${first}","all":[]},"message":"${__iteration__} ${total} ${sum.data.is ?? \"none\"}","data":{"is":"${total}x","was":"${all}"}},
		"loop":{"until":"${limit.data[${__iteration__}]}","carry":{"total":"${sum.data.is}","all":["${all}","${sum.echo}","${__iteration__}"]}}},
		{"id":"limit","type":"echo","params":{"data":[0,0,0,1]}}]}`, func(c *engine.Config) { c.Inputs["first"] = []byte(`"$${a} ${b}"`) })
	p.ended(t, event.Completed)
	var texts []string
	for _, e := range append(p.of(event.IterationCompleted), p.of(event.NodeCompleted)...) {
		if e.Node == "sum" {
			texts = append(texts, strings.SplitN(string(e.Outputs), `"`, 5)[3])
		}
	}
	want := "1 $${a} ${b} none|2 $${a} ${b}x $${a} ${b}x|3 $${a} ${b}xx $${a} ${b}xx" // values are not templates
	if got := strings.Join(texts, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := p.get("sum.data.was"); !strings.Contains(got, `2]`) || !strings.Contains(got, `1]`) {
		t.Errorf("%s", got)
	}
}

func TestAFailureInAnIterationFailsTheNode(t *testing.T) {
	s := newService(t)
	s.answer = func(_ string, n int, _ <-chan struct{}) (int, string) {
		if n == 2 {
			return http.StatusTeapot, `{"n":2}`
		}
		return http.StatusOK, `{"n":1}`
	}
	def := `{"nodes":[` + s.node("poll", "p", `,"loop":{"while":"${poll.response.n}"}`) + `,{"id":"mend","type":"echo","params":{"message":"${poll.response.n%s}"}}]%s}`
	p := newBench(t).play(t.Context(), fmt.Sprintf(def, ` ?? \"none\"`, ""), func(c *engine.Config) { c.KeepGoing = true })
	p.failed(t, fault.Execution, "418")
	if e := p.of(event.NodeFailed)[0]; e.Iteration != 2 || e.Attempt != 1 || len(s.calls) != 2 {
		t.Errorf("%+v, %d calls", e, len(s.calls))
	}
	for _, e := range p.of(event.NodeCompleted) {
		if e.Node == "mend" && !strings.Contains(string(e.Outputs), `"echo":"none"`) { // an iteration does not settle the node
			t.Errorf("%s", e.Outputs)
		}
	}
	s.anew()
	p = newBench(t).play(t.Context(), fmt.Sprintf(def, "", `,"edges":[{"from":"poll","to":"mend","action":"error"}]`))
	p.ended(t, event.Degraded)
	if got := p.get("mend.echo"); got != `"2"` { // the outputs of the failure
		t.Errorf("%s", got)
	}
}

func TestAnIterationIsTriedAgain(t *testing.T) {
	s := newService(t)
	s.answer = func(_ string, n int, _ <-chan struct{}) (int, string) {
		if n == 2 || n == 3 {
			return http.StatusBadGateway, "{}"
		}
		return http.StatusOK, fmt.Sprintf(`{"n":%d}`, n)
	}
	p := newBench(t).play(t.Context(), `{"nodes":[`+s.node("poll", "p", `,"loop":{"until":"${limit.data[${__iteration__}]}"},"retry":{"max":3}`)+`,{"id":"limit","type":"echo","params":{"data":[0,0,0,1]}}]}`)
	p.ended(t, event.Completed)
	var got []string
	for _, e := range p.of(event.NodeStarted) {
		if e.Node == "poll" {
			got = append(got, fmt.Sprintf("%d.%d", e.Iteration, e.Attempt))
		}
	}
	if strings.Join(got, " ") != "1.1 2.1 2.2 2.3 3.1" || len(s.calls) != 5 {
		t.Errorf("started %s, %d calls", got, len(s.calls))
	}
}

func TestALoopWhoseConditionLeadsNowhere(t *testing.T) {
	s := counter(t)
	p := newBench(t).play(t.Context(), `{"nodes":[`+s.node("poll", "p", `,"loop":{"while":"${poll.response.gone}"},"retry":{"max":4}`)+`]}`)
	p.failed(t, fault.Template, "${poll.response.gone} not resolved")
	if len(s.calls) != 1 || p.last.Error.Path != "loop.while" {
		t.Errorf("%d calls, %s", len(s.calls), p.last.Error.Path)
	}
}

func TestALoopOfASubWorkflow(t *testing.T) {
	for name, given := range map[string]string{
		"by inputs":        `"inputs":{"from":"${first}","step":2},`,
		"by param_mapping": `"param_mapping":{"from":"${first}","step":2},`,
		"by its default":   ``,
	} {
		t.Run(name, func(t *testing.T) {
			s, b := newService(t), newBench(t)
			b.saved["add"] = `{"inputs":{"from":{"default":"a"},"step":{"default":2}},"nodes":[` + s.node("call", "${from}", "") + `,{"id":"n","type":"echo","params":{"message":"${from}${step}"}}],
				"outputs":{"to":{"source":"${n.echo}"}}}`
			p := b.play(t.Context(), `{"inputs":{"first":{}},"nodes":[{"id":"add","type":"workflow","params":{`+given+`"workflow":"add"},
				"loop":{"until":"${limit.data[${__iteration__}]}","carry":{"from":"${add.to}"}}},{"id":"limit","type":"echo","params":{"data":[0,0,0,1]}}],
				"outputs":{"to":{"source":"${add.to}"},"stopped":{"source":"${add.loop_stopped}"}}}`, func(c *engine.Config) { c.Inputs["first"] = []byte(`"a"`) })
			p.ended(t, event.Completed)
			if p.get("to") != `"a222"` || strings.Join(s.calls, " ") != "a a2 a22" || p.get("stopped") != `"condition"` {
				t.Errorf("%s, called %s", p.last.Outputs, s.calls)
			}
			if got := p.nodes(event.NodeCompleted); got != "add add#2/call add#2/n add#3/call add#3/n add/call add/n limit" {
				t.Errorf("nodes %s", got)
			}
		})
	}
}

// The condition can read outputs that are too long for a line, and loop_stopped is added to them.
func TestALoopWithLongOutputs(t *testing.T) {
	long := `[` + strings.Repeat(`"0123456789",`, 6000) + `"end"]`
	p := newBench(t).play(t.Context(), `{"nodes":[{"id":"l","type":"echo","params":{"data":{"at":"${__iteration__}","long":`+long+`}},"loop":{"until":"${l.data.at}","max_iterations":3}}],
		"outputs":{"last":{"source":"${l.data.long[6000]}"},"stopped":{"source":"${l.loop_stopped}"}}}`)
	if p.get("last") != `"end"` || p.get("stopped") != `"condition"` {
		t.Errorf("%s %+v", p.last.Outputs, p.last.Error)
	}
}
