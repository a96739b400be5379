package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// asked returns a config change by which a person answers questions. An empty answer leaves a question open.
func asked(answer func(engine.Question) string) func(*engine.Config) {
	return func(c *engine.Config) {
		c.Ask = func(_ context.Context, q engine.Question) (string, string, error) { return answer(q), "tester", nil }
	}
}

// given sets the answer to the questions that the resumed run left open.
func given(answer string) func(*engine.Config) {
	return func(c *engine.Config) { c.Answer = engine.Answer{Text: answer, By: engine.ByFlag} }
}

const gated = `{"nodes":[{"id":"before","type":"echo","params":{"data":"x"}},
	{"id":"gate","type":"echo","params":{"message":"${before.data} ${__answer__}"},"approval":%s},
	{"id":"after","type":"echo","params":{"data":"${gate.echo}"}},{"id":"free","type":"echo"}]}`

func TestAPersonIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		approval, answer string
		question         string
		status           event.Status
		after            string
	}{
		"yes":          {`"required"`, "yes", "Run node gate (echo)? [yes no]", event.Completed, `"x yes"`},
		"no":           {`true`, "no", "Run node gate (echo)? [yes no]", event.Denied, ""},
		"a choice":     {`{"question":"Where to, ${before.data}?","choices":["red","green"]}`, "green", "Where to, x? [red green]", event.Completed, `"x green"`},
		"no as choice": {`{"choices":["red","no"]}`, "no", "Run node gate (echo)? [red no]", event.Denied, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var question string
			p := newBench(t).play(t.Context(), fmt.Sprintf(gated, c.approval), asked(func(q engine.Question) string {
				question = fmt.Sprintf("%s %s", q.Text, q.Choices)
				return c.answer
			}))
			p.ended(t, c.status)
			if question != c.question || p.get("after.data") != c.after {
				t.Errorf("asked %q, got %s", question, p.get("after.data"))
			}
			r, a := p.of(event.ApprovalRequested), p.of(event.ApprovalResolved)
			if len(r) != 1 || len(a) != 1 || fmt.Sprintf("%s %s", r[0].Question, r[0].Choices) != c.question || a[0].Answer != c.answer || a[0].By != "tester" {
				t.Errorf("%+v %+v", r, a)
			}
			if c.status == event.Denied && (p.last.Error == nil || p.last.Error.Node != "gate" || p.nodes(event.NodeCancelled) != "after gate") {
				t.Errorf("%+v, cancelled %s", p.last.Error, p.nodes(event.NodeCancelled))
			}
		})
	}
}

func TestWithNobodyToAskTheRunPauses(t *testing.T) {
	for name, nobody := range map[string]func(*engine.Config){
		"none":                        func(*engine.Config) {},
		"the end of the input":        asked(func(engine.Question) string { return "" }),
		"an answer that is no choice": asked(func(engine.Question) string { return "yes" }),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			def := fmt.Sprintf(gated, `{"choices":["go","no"]}`)
			first := b.play(t.Context(), def, nobody)
			first.ended(t, event.Paused)
			if first.nodes(event.NodeCompleted) != "before free" || first.nodes(event.NodeCancelled) != "" || len(first.of(event.ApprovalRequested)) != 1 {
				t.Errorf("completed %s, cancelled %s", first.nodes(event.NodeCompleted), first.nodes(event.NodeCancelled))
			}
			second := b.play(t.Context(), def, first.whole(b), given("perhaps"))
			second.ended(t, event.Paused)
			if len(second.last.Warnings) != 1 || !strings.Contains(second.last.Warnings[0], `gate cannot be answered "perhaps"`) {
				t.Errorf("%q", second.last.Warnings)
			}
			third := b.play(t.Context(), def, second.whole(b), given("no"))
			third.ended(t, event.Denied)
			fourth := b.play(t.Context(), def, third.whole(b)) // after a no the question is asked again
			fourth.ended(t, event.Paused)
			fifth := b.play(t.Context(), def, third.whole(b), given("go")) // or may be answered at once
			fifth.ended(t, event.Completed)
			if fifth.get("after.data") != `"x go"` || fifth.nodes(event.NodeReused) != "before free" || fifth.of(event.ApprovalResolved)[0].By != "--approve" {
				t.Errorf("%s, reused %s", fifth.get("after.data"), fifth.nodes(event.NodeReused))
			}
		})
	}
}

// An answer counts for the question that was asked, and for no other question that the run asks now.
func TestAnAnswerIsToTheQuestionThatWasAsked(t *testing.T) {
	b := newBench(t)
	def := `{"nodes":[{"id":"gate","type":"echo","approval":{"question":"Delete %s?"}}]}`
	first := b.play(t.Context(), fmt.Sprintf(def, "the copy"))
	first.ended(t, event.Paused)
	second := b.play(t.Context(), fmt.Sprintf(def, "the original"), first.whole(b), given("yes"))
	second.ended(t, event.Paused)
	if w := second.last.Warnings; len(w) != 1 || !strings.Contains(w[0], `it asks "Delete the original?" now, and asked "Delete the copy?" before`) {
		t.Errorf("%q", w)
	}
	b.play(t.Context(), fmt.Sprintf(def, "the original"), second.whole(b), given("yes")).ended(t, event.Completed)
}

// A paused run lists the questions that it waits for, up to a limit.
func TestWhatAPausedRunWaitsFor(t *testing.T) {
	def := `{"nodes":[{"id":"s","type":"workflow","params":{"inputs":{"x":"${item}"},"workflow":{"inputs":{"x":{}},"nodes":[{"id":"gate","type":"echo","approval":{"question":"Is ${x} right?","choices":["aye","no"]}}]}},
		"batch":{"items":[%s],"parallel":true,"max_concurrent":100}}]}`
	p := newBench(t).play(t.Context(), fmt.Sprintf(def, "1,2"))
	p.ended(t, event.Paused)
	if e := p.last.Error; e.Message != "The run waits for a person's answer: Is 1 right?; and node s[1]/gate asks: Is 2 right?" || e.Node != "s[0]/gate" || len(e.Next) != 2 || e.Next[0].Node != "s[0]/gate" || !slices.Equal(e.Next[1].Choices, []string{"aye", "no"}) {
		t.Errorf("%+v", e)
	}
	p = newBench(t).play(t.Context(), fmt.Sprintf(def, strings.Repeat("1,", 29)+"1"))
	if e := p.last.Error; strings.Count(e.Message, " asks: ") != 9 || !strings.Contains(e.Message, "; and 20 ") {
		t.Errorf("%s", e)
	}
}

// An answer survives wherever the run is cut after it, through several resumes, and when the node is reused.
func TestAnAnswerIsAskedForOnce(t *testing.T) {
	b := newBench(t)
	def := func(end string) string {
		return strings.Replace(fmt.Sprintf(gated, `true`), `"${gate.echo}"`, `"${gate.echo}`+end+`"`, 1)
	}
	first := b.play(t.Context(), def(""), asked(func(engine.Question) string { return "yes" }))
	for cut := 1; cut <= len(first.lines); cut++ {
		answered := false
		for _, e := range first.events[:cut] {
			answered = answered || e.Event == event.ApprovalResolved
		}
		times := 0
		yes := asked(func(engine.Question) string { times++; return "yes" })
		second := b.play(t.Context(), def(""), first.from(b, cut), yes)
		third := b.play(t.Context(), def("!"), second.whole(b), yes)
		if want := map[bool]int{true: 0, false: 1}[answered]; times != want || third.get("after.data") != `"x yes!"` {
			t.Errorf("cut after %s: asked %d times, want %d; %s", first.events[cut-1].Event, times, want, third.get("after.data"))
		}
		if third.nodes(event.NodeReused) != "before free gate" {
			t.Errorf("reused %s", third.nodes(event.NodeReused))
		}
	}
}

// An answer does not count for a node that has changed.
func TestAnAnswerIsForWhatWasAsked(t *testing.T) {
	def := `{"nodes":[{"id":"gate","type":"shell","params":{"command":"%s"},"approval":{"question":"%s"}}]}`
	for name, c := range map[string]struct {
		command, question string
		asks              int
	}{
		"the same":         {"echo a; exit 1", "Sure?", 0},
		"another command":  {"echo b; exit 1", "Sure?", 1},
		"another question": {"echo a; exit 1", "Really?", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			times := 0
			yes := asked(func(engine.Question) string { times++; return "yes" })
			first := b.play(t.Context(), fmt.Sprintf(def, "echo a; exit 1", "Sure?"), yes)
			times = 0
			b.play(t.Context(), fmt.Sprintf(def, c.command, c.question), first.whole(b), yes)
			if times != c.asks {
				t.Errorf("asked %d times", times)
			}
		})
	}
}

func TestAQuestionThatLeadsNowhere(t *testing.T) {
	p := newBench(t).play(t.Context(), fmt.Sprintf(gated, `{"question":"${before.data.gone}?"}`), asked(func(engine.Question) string { return "yes" }))
	p.failed(t, fault.Template, "${before.data.gone} not resolved")
	if p.last.Error.Path != "approval.question" || len(p.of(event.ApprovalRequested)) != 0 {
		t.Errorf("%+v", p.last.Error)
	}
}

func TestAQuestionInsideASubWorkflow(t *testing.T) {
	b := newBench(t)
	b.saved["sub"] = `{"nodes":[{"id":"first","type":"echo","params":{"data":1}},{"id":"gate","type":"echo","params":{"message":"${first.data} ${__answer__}"},"approval":true}]}`
	def := `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":"sub"}},{"id":"after","type":"echo","params":{"data":"${s.gate.echo}"}},{"id":"free","type":"echo"}]}`
	first := b.play(t.Context(), def)
	first.ended(t, event.Paused)
	if r := first.of(event.ApprovalRequested); len(r) != 1 || r[0].Node != "s/gate" || first.nodes(event.NodeCompleted) != "free s/first" {
		t.Errorf("%+v, completed %s", r, first.nodes(event.NodeCompleted))
	}
	denied := b.play(t.Context(), def, first.whole(b), given("no"))
	denied.ended(t, event.Denied)
	if got := denied.nodes(event.NodeCancelled); got != "after s s/gate" || denied.last.Error.Node != "s/gate" || len(denied.of(event.NodeFailed)) != 0 {
		t.Errorf("cancelled %s, %+v", got, denied.last.Error)
	}
	second := b.play(t.Context(), def, first.whole(b), given("yes"))
	second.ended(t, event.Completed)
	if second.get("after.data") != `"1 yes"` || second.nodes(event.NodeReused) != "free s/first" {
		t.Errorf("%s, reused %s", second.get("after.data"), second.nodes(event.NodeReused))
	}
	for i, e := range second.events { // a kill right after the answer
		if e.Event == event.ApprovalResolved {
			third := b.play(t.Context(), def, second.from(b, i+1))
			third.ended(t, event.Completed)
			if third.get("after.data") != `"1 yes"` {
				t.Errorf("%s", third.get("after.data"))
			}
		}
	}
}

// A denied sub-workflow is not tried again, its batch asks about no further item, and no error edge handles it.
func TestADenialEndsEverything(t *testing.T) {
	b := newBench(t)
	b.saved["sub"] = `{"inputs":{"x":{"default":0}},"nodes":[{"id":"gate","type":"echo","params":{"data":"${x}"},"approval":true}]}`
	for name, node := range map[string]string{
		"with a retry":   `{"id":"s","type":"workflow","params":{"workflow":"sub"},"retry":{"max":4}}`,
		"of a batch":     `{"id":"s","type":"workflow","params":{"workflow":"sub","inputs":{"x":"${item}"}},"batch":{"items":[1,2,3,4,5,6],"parallel":true,"max_concurrent":2,"error_handling":"continue"}}`,
		"beside another": `{"id":"s","type":"workflow","params":{"workflow":"sub"}},{"id":"t","type":"workflow","params":{"workflow":"sub"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := b.play(t.Context(), `{"nodes":[`+node+`,{"id":"mend","type":"echo"}],"edges":[{"from":"s","to":"mend","action":"error"}`+
				map[bool]string{true: `,{"from":"t","to":"mend","action":"error"}`}[name == "beside another"]+`]}`, func(c *engine.Config) {
				c.Ask = func(ctx context.Context, q engine.Question) (string, string, error) {
					if q.Node == "s/gate" || q.Node == "s[1]/gate" {
						return "no", "tester", nil
					}
					<-ctx.Done() // the question is withdrawn
					return "", "", ctx.Err()
				}
			})
			p.ended(t, event.Denied)
			if len(p.of(event.NodeFailed)) != 0 || len(p.of(event.ApprovalResolved)) != 1 || p.nodes(event.NodeCompleted) != "" || !strings.Contains(p.nodes(event.NodeCancelled), "mend") {
				t.Errorf("failed %q, completed %q, cancelled %q", p.nodes(event.NodeFailed), p.nodes(event.NodeCompleted), p.nodes(event.NodeCancelled))
			}
		})
	}
}

// A denial cancels also the nodes of a sub-workflow that wait for a slot.
func TestADenialReachesWhatWaitsForItsTurn(t *testing.T) {
	s, b := newService(t), newBench(t)
	running, denied := make(chan struct{}), make(chan struct{})
	s.answer = func(string, int, <-chan struct{}) (int, string) {
		close(running)
		<-denied
		return http.StatusOK, "{}"
	}
	p := b.play(t.Context(), `{"nodes":[`+s.node("slow", "slow", "")+`,{"id":"gate","type":"echo","approval":true},{"id":"s","type":"workflow","params":{"workflow":{"nodes":[{"id":"queued","type":"echo"}]}}}]}`,
		func(c *engine.Config) { c.Jobs = 1 }, asked(func(engine.Question) string { <-running; return "no" }),
		each(func(e *event.Event) {
			if e.Event == event.ApprovalResolved {
				close(denied)
			}
		}))
	p.ended(t, event.Denied)
	if c, d := p.nodes(event.NodeCancelled), p.nodes(event.NodeCompleted); c != "gate s s/queued" || d != "slow" {
		t.Errorf("cancelled %s, completed %s", c, d)
	}
}

// After a failure no node starts, so open questions are withdrawn, and the failure is reported.
func TestAQuestionIsTakenBackAfterAFailure(t *testing.T) {
	b := newBench(t)
	bad := `{"id":"bad","type":"echo","params":{"data":"${src.data.gone}"}}`
	b.saved["sub"] = `{"nodes":[{"id":"src","type":"echo","params":{"data":{}}},{"id":"gate","type":"echo","approval":true},` + bad + `]}`
	top := b.saved["sub"]
	waits := func(c *engine.Config) {
		c.Ask = func(ctx context.Context, _ engine.Question) (string, string, error) {
			<-ctx.Done()
			return "", "", ctx.Err()
		}
	}
	for name, c := range map[string]struct {
		def, node string
		ask       func(*engine.Config)
	}{
		"of the run":                {top, "bad", waits},
		"of the run, nobody":        {top, "bad", func(*engine.Config) {}},
		"of a sub-workflow":         {`{"nodes":[{"id":"s","type":"workflow","params":{"workflow":"sub"}}]}`, "s", waits},
		"of a sub-workflow, nobody": {`{"nodes":[{"id":"s","type":"workflow","params":{"workflow":"sub"}}]}`, "s", func(*engine.Config) {}},
	} {
		t.Run(name, func(t *testing.T) {
			p := b.play(t.Context(), c.def, c.ask)
			p.failed(t, fault.Template, "${src.data.gone}")
			if p.last.Error != nil && p.last.Error.Node != c.node || len(p.of(event.ApprovalResolved)) != 0 || !strings.Contains(p.nodes(event.NodeCancelled), "gate") {
				t.Errorf("%+v, cancelled %s", p.last.Error, p.nodes(event.NodeCancelled))
			}
		})
	}
	// If an edge handles the failure the run goes on, and the question does not make it pause.
	p := b.play(t.Context(), `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":"sub"}},{"id":"mend","type":"echo"}],"edges":[{"from":"s","to":"mend","action":"error"}]}`)
	p.ended(t, event.Degraded)
}

func TestACancelledRunStopsAsking(t *testing.T) {
	b := newBench(t)
	b.saved["sub"] = `{"nodes":[{"id":"gate","type":"echo","approval":true}]}`
	ctx, cancel := context.WithCancel(t.Context())
	p := b.play(ctx, `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":"sub"}}]}`, func(c *engine.Config) {
		c.Ask = func(ctx context.Context, _ engine.Question) (string, string, error) {
			cancel()
			<-ctx.Done()
			return "", "", ctx.Err()
		}
	})
	p.ended(t, event.Cancelled)
	if got := p.nodes(event.NodeCancelled); got != "s s/gate" {
		t.Errorf("cancelled %s", got)
	}
}

// Only a person answers what only a person may: not an answer by a program, not one that an earlier run has taken from a program, and for a node
// that a person has denied no program either, in whatever run goes on from there.
func TestOnlyAPersonMayAnswer(t *testing.T) {
	b := newBench(t)
	def := func(approval string) string {
		return `{"nodes":[{"id":"gate","type":"shell","params":{"command":"exit 1"},"approval":` + approval + `}]}`
	}
	by := func(answer string, person bool) func(*engine.Config) {
		return func(c *engine.Config) {
			c.Answers = map[string]engine.Answer{"gate": {Text: answer, By: "somebody", Person: person}}
		}
	}
	for name, change := range map[string]func(*engine.Config){"the workflow": nil, "the run": func(c *engine.Config) { c.ByPerson = true }} {
		approval := `true`
		if change == nil {
			approval, change = `{"by":"person"}`, func(*engine.Config) {}
		}
		refused := b.play(t.Context(), def(approval), change, by("yes", false))
		refused.ended(t, event.Paused)
		if asked := refused.of(event.ApprovalRequested); len(asked) != 1 || asked[0].By != "person" || refused.last.Error.Next[0].Do != fault.DoAskPerson {
			t.Errorf("%s: asked %+v, then %+v", name, asked, refused.last.Error)
		}
		taken := b.play(t.Context(), def(approval), change, by("yes", true))
		if answers := taken.of(event.ApprovalResolved); len(answers) != 1 || !answers[0].Person || answers[0].By != "somebody" {
			t.Errorf("%s: a person's answer is %+v", name, answers)
		}
	}
	first := b.play(t.Context(), def(`true`), by("yes", false))
	first.ended(t, event.Failed)
	b.play(t.Context(), def(`true`), first.whole(b)).ended(t, event.Failed)
	b.play(t.Context(), def(`true`), first.whole(b), func(c *engine.Config) { c.ByPerson = true }).ended(t, event.Paused)
	denied := b.play(t.Context(), def(`true`), by("no", true))
	denied.ended(t, event.Denied)
	asks := b.play(t.Context(), def(`true`), denied.whole(b), by("yes", false))
	asks.ended(t, event.Paused)
	if asked := asks.of(event.ApprovalRequested); len(asked) != 1 || asked[0].DeniedBy != "somebody" {
		t.Errorf("asked again: %+v", asked)
	}
	b.play(t.Context(), def(`true`), asks.whole(b), by("yes", false)).ended(t, event.Paused)
	b.play(t.Context(), def(`true`), asks.whole(b), by("yes", true)).ended(t, event.Failed)
	byProgram := b.play(t.Context(), def(`true`), by("no", false))
	b.play(t.Context(), def(`true`), byProgram.whole(b), by("yes", false)).ended(t, event.Failed)
}
