package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// asker executes attempts at nodes named ask, which ask a person until they have the answers to all of their questions.
type asker struct {
	mu        sync.Mutex
	questions []node.Question
	begun     int // attempts without an answer
	got       []string
}

func (a *asker) config(c *engine.Config) {
	local := engine.Local(c.Host)
	c.Execute = func(ctx context.Context, at engine.Attempt) engine.Result {
		if !strings.Contains(at.Node, "ask") {
			return local(ctx, at)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		asked := 0
		if at.Answer == nil {
			a.begun++
		} else {
			if err := json.Unmarshal(at.Answer.State, &asked); err != nil {
				return engine.Result{StoreErr: err}
			}
			a.got = append(a.got, at.Answer.Text)
		}
		r := engine.Result{Action: workflow.ActionDefault, Outputs: json.RawMessage(fmt.Sprintf(`{"echo":%d}`, asked))}
		if asked < len(a.questions) {
			q := a.questions[asked]
			q.State = json.RawMessage(fmt.Sprint(asked + 1))
			r.Ask = &q
		}
		return r
	}
}

var (
	permission = node.Question{Text: "May I?", Choices: []string{"yes", "skip", "no"}}
	open       = node.Question{Text: "Which?", Choices: []string{"a", "no"}, AnyAnswer: true}
)

const asksItself = `{"nodes":[{"id":"before","type":"echo"},{"id":"ask","type":"echo","params":{"data":"${before.echo} %s"}},{"id":"after","type":"echo","params":{"data":"${ask.echo}"}}]}`

func TestANodeAsksItself(t *testing.T) {
	for name, c := range map[string]struct {
		questions []node.Question
		answers   map[string]string
		status    event.Status
		got       string
		begun     int
	}{
		"a permission":             {[]node.Question{permission}, map[string]string{"May I?": "skip"}, event.Completed, "skip", 1},
		"no denies":                {[]node.Question{permission}, map[string]string{"May I?": "no"}, event.Denied, "", 1},
		"no is an answer":          {[]node.Question{open}, map[string]string{"Which?": "no"}, event.Completed, "no", 1},
		"any text":                 {[]node.Question{open}, map[string]string{"Which?": "all of them"}, event.Completed, "all of them", 1},
		"one after the other":      {[]node.Question{open, permission}, map[string]string{"Which?": "a", "May I?": "yes"}, event.Completed, "a yes", 1},
		"with nobody there":        {[]node.Question{permission}, nil, event.Paused, "", 1},
		"an answer that is no one": {[]node.Question{permission}, map[string]string{"May I?": "perhaps"}, event.Paused, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			a := &asker{questions: c.questions}
			p := newBench(t).play(t.Context(), fmt.Sprintf(asksItself, ""), a.config, asked(func(q engine.Question) string { return c.answers[q.Text] }))
			p.ended(t, c.status)
			if got := strings.Join(a.got, " "); got != c.got || a.begun != c.begun {
				t.Errorf("got %q, begun %d times", got, a.begun)
			}
			if want := fmt.Sprint(len(c.questions)); c.status == event.Completed && p.get("after.data") != want {
				t.Errorf("after is %s", p.get("after.data"))
			}
		})
	}
}

// TestTheWorkBeforeAQuestionIsNotRepeated resumes a run from every prefix of its events: once the question is recorded, the node goes
// on from there, and once the answer is, nobody is asked again.
func TestTheWorkBeforeAQuestionIsNotRepeated(t *testing.T) {
	b := newBench(t)
	def := fmt.Sprintf(asksItself, "")
	whole := b.play(t.Context(), def, (&asker{questions: []node.Question{permission}}).config, asked(func(engine.Question) string { return "yes" }))
	whole.ended(t, event.Completed)
	for n := 1; n <= len(whole.lines); n++ {
		recorded := func(kind event.Kind) bool {
			for _, e := range whole.events[:n] {
				if e.Event == kind {
					return true
				}
			}
			return false
		}
		questions := 0
		a := &asker{questions: []node.Question{permission}}
		p := b.play(t.Context(), def, a.config, whole.from(b, n), asked(func(engine.Question) string { questions++; return "skip" }))
		p.ended(t, event.Completed)
		if again := a.begun > 0; again == recorded(event.ApprovalRequested) {
			t.Errorf("%d events: the node began again: %v", n, again)
		}
		if again := questions > 0; again == recorded(event.ApprovalResolved) {
			t.Errorf("%d events: asked again: %v", n, again)
		}
		if p.get("after.data") != "1" {
			t.Errorf("%d events: after is %s", n, p.get("after.data"))
		}
	}
}

func TestAPausedQuestionIsAnsweredOnAResume(t *testing.T) {
	b := newBench(t)
	def := fmt.Sprintf(asksItself, "")
	a := &asker{questions: []node.Question{open, permission}}
	first := b.play(t.Context(), def, a.config, func(c *engine.Config) { c.Answers = map[string]engine.Answer{"ask": {Text: "a", By: "--approve"}} })
	first.ended(t, event.Paused) // what a node asks itself is not known beforehand
	second := b.play(t.Context(), def, a.config, first.whole(b))
	second.ended(t, event.Paused)
	third := b.play(t.Context(), def, a.config, second.whole(b), given("anything"))
	third.ended(t, event.Paused) // the second question was not asked yet
	if len(third.last.Warnings) != 0 || third.last.Error.Node != "ask" || !strings.Contains(third.last.Error.Message, "May I?") {
		t.Errorf("%q, %+v", third.last.Warnings, third.last.Error)
	}
	denied := b.play(t.Context(), def, a.config, third.whole(b), given("no"))
	denied.ended(t, event.Denied)
	last := b.play(t.Context(), def, a.config, denied.whole(b), func(c *engine.Config) { c.Answers = map[string]engine.Answer{"ask": {Text: "yes", By: "--approve"}} })
	last.ended(t, event.Completed)
	if got := strings.Join(a.got, " "); got != "anything yes" || a.begun != 1 || last.get("after.data") != "2" {
		t.Errorf("got %q, begun %d times, after is %s", got, a.begun, last.get("after.data"))
	}
	changed := b.play(t.Context(), fmt.Sprintf(asksItself, "changed"), a.config, third.whole(b), given("yes"))
	changed.ended(t, event.Paused) // with other parameters it begins anew
	if a.begun != 2 {
		t.Errorf("begun %d times", a.begun)
	}
}

func TestWhoAsksWhere(t *testing.T) {
	a := &asker{questions: []node.Question{permission}}
	p := newBench(t).play(t.Context(), `{"nodes":[{"id":"ask","type":"echo","batch":{"items":[1,2]}}]}`, a.config)
	p.ended(t, event.Degraded)
	if a.begun != 2 || len(p.last.Warnings) != 2 || !strings.Contains(p.last.Warnings[0], "May I?") {
		t.Errorf("begun %d times, %q", a.begun, p.last.Warnings)
	}

	b := newBench(t)
	def := `{"nodes":[{"id":"ask","type":"echo","loop":{"while":"true","max_iterations":2}},{"id":"sub","type":"workflow","params":{"workflow":{"nodes":[{"id":"ask","type":"echo"}]}}}]}`
	a = &asker{questions: []node.Question{permission}}
	first := b.play(t.Context(), def, a.config)
	first.ended(t, event.Paused)
	second := b.play(t.Context(), def, a.config, first.whole(b), given("yes"))
	second.ended(t, event.Paused) // in its second iteration
	if second.last.Error.Node != "ask" || second.of(event.ApprovalRequested)[len(second.of(event.ApprovalRequested))-1].Iteration != 2 {
		t.Errorf("%+v", second.last.Error)
	}
	third := b.play(t.Context(), def, a.config, second.whole(b), given("yes"))
	third.ended(t, event.Completed)
	if a.begun != 3 {
		t.Errorf("begun %d times", a.begun)
	}
}
