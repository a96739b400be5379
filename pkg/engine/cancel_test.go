package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// exit is an error with the exit status of the program.
type exit int

func (e exit) Error() string   { return "a signal" }
func (e exit) ExitStatus() int { return int(e) }

func TestARunIsCancelled(t *testing.T) {
	s, b := newService(t), newBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	s.answer = func(_ string, _ int, gone <-chan struct{}) (int, string) {
		cancel(exit(130))
		<-gone
		return http.StatusOK, "{}"
	}
	p := b.play(ctx, `{"nodes":[{"id":"a","type":"echo"},`+s.node("slow", "${a.echo}", "")+`,{"id":"z","type":"echo","params":{"data":"${slow.response}"}},
		{"id":"sub","type":"workflow","params":{"inputs":{"x":"${a.echo}"},"workflow":{"inputs":{"x":{}},"nodes":[{"id":"queued","type":"echo","params":{"data":"${x}"}}]}}}]}`,
		func(c *engine.Config) { c.Jobs = 1 })
	p.ended(t, event.Cancelled)
	if p.last.Error.Message != "The run was cancelled: a signal" || p.last.Error.Details["exit_status"] != 130 || strings.Join(p.last.Checkpoint.CompletedNodes, " ") != "a" {
		t.Errorf("%+v %+v", p.last.Error, p.last.Checkpoint)
	}
	for _, e := range p.of(event.NodeCancelled) {
		if e.Cause != "cancelled" {
			t.Errorf("%s was cancelled because of %s", e.Node, e.Cause)
		}
	}
	if got := p.nodes(event.NodeCancelled); got != "slow sub sub/queued z" {
		t.Errorf("cancelled %s", got)
	}
}

func TestTheTimeOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newBench(t).play(t.Context(), `{"nodes":[{"id":"n","type":"read-file","params":{"file_path":"none"},"retry":{"max":6,"wait":1000,"max_wait":1000}},{"id":"z","type":"echo","params":{"data":"${n.content}"}}]}`,
			func(c *engine.Config) { c.Timeout = time.Minute })
		p.ended(t, event.TimedOut)
		if p.last.Error.Type != fault.Timeout || p.nodes(event.NodeCancelled) != "n z" || p.last.Time.Sub(p.events[0].Time) != time.Minute {
			t.Errorf("%+v, cancelled %s", p.last.Error, p.nodes(event.NodeCancelled))
		}
	})
}

// Wherever a run is cancelled, it ends, records how every node that had begun ended, and can be resumed. Then nothing that was
// done is done again.
func TestARunIsCancelledAtAnyEvent(t *testing.T) {
	s, b := newService(t), newBench(t)
	s.answer = func(path string, n int, _ <-chan struct{}) (int, string) {
		if strings.HasPrefix(path, "flaky") && n == 1 {
			return http.StatusBadGateway, "{}"
		}
		return http.StatusOK, fmt.Sprintf(`{"more":%t,"path":%q}`, strings.HasSuffix(path, "1"), path)
	}
	b.saved["sub"] = `{"inputs":{"x":{}},"nodes":[` + s.node("one", "one${x}", "") + `,` + s.node("two", "flaky-two${x}", `,"retry":{"max":2}`) + `],"edges":[{"from":"one","to":"two"}],"outputs":{"y":{"source":"${two.response.path}"}}}`
	def := `{"nodes":[` + s.node("plain", "plain", "") + `,` +
		s.node("waits", "flaky-waits", `,"retry":{"max":2,"wait":0.001}`) + `,` +
		s.node("loop", "loop${__iteration__}", `,"loop":{"while":"${loop.response.more}"}`) + `,` +
		s.node("each", "each${item}", `,"batch":{"items":[1,2]}`) + `,` +
		s.node("retries", "flaky-each${item}", `,"batch":{"items":[1,2],"parallel":true},"retry":{"max":2}`) + `,
		{"id":"sub","type":"workflow","params":{"workflow":"sub","inputs":{"x":"${plain.response.path}"}}},
		{"id":"subs","type":"workflow","params":{"workflow":"sub","inputs":{"x":"${item}"}},"batch":{"items":[1,2,3],"parallel":true,"max_concurrent":2}}],
		"outputs":{"all":{"source":"${sub.y}"},"n":{"source":"${subs.results[2].y}"},"loop":{"source":"${loop.response.path}"},"each":{"source":"${each.count}"},"retries":{"source":"${retries.success_count}"},"waits":{"source":"${waits.response.path}"}}}`
	want := b.play(t.Context(), def)
	want.ended(t, event.Completed)
	for jobs, step := range map[int]int{1: 1, 4: 3} {
		for at := 1; ; at += step {
			s.anew()
			ctx, cancel := context.WithCancelCause(t.Context())
			seen := 0
			first := b.play(ctx, def, each(func(*event.Event) {
				if seen++; seen == at {
					cancel(errors.New("enough"))
				}
			}), func(c *engine.Config) { c.Jobs = jobs })
			cancel(nil)
			if first.last.Status == event.Completed {
				break
			}
			first.ended(t, event.Cancelled)
			ends := map[string]int{}
			for _, e := range first.events {
				if e.Event == event.NodeCompleted || e.Event == event.NodeCancelled || e.IsFailure() {
					ends[e.Node]++
				}
			}
			for _, e := range first.of(event.NodeStarted) {
				if ends[e.Node] != 1 {
					t.Errorf("cancelled at event %d: %s ended %d times", at, e.Node, ends[e.Node])
				}
			}
			s.forget()
			second := b.play(t.Context(), def, first.whole(b))
			if second.last.Status != event.Completed || string(second.last.Outputs) != string(want.last.Outputs) {
				t.Fatalf("cancelled at event %d (%s of %s): %s %+v", at, first.events[at-1].Event, first.events[at-1].Node, second.last.Outputs, second.last.Error)
			}
			for _, e := range first.events {
				done := map[string]string{"plain": "plain", "waits": "flaky-waits", "sub/one": "oneplain", "sub/two": "flaky-twoplain"}[e.Node]
				switch {
				case e.Event == event.IterationCompleted:
					done = fmt.Sprintf("%s%d", e.Node, e.Iteration)
				case e.Event == event.ItemCompleted && e.Node == "each":
					done = fmt.Sprintf("each%d", *e.Item+1)
				case e.Event == event.ItemCompleted && e.Node == "subs":
					done = fmt.Sprintf("one%d", *e.Item+1)
				case e.Event != event.NodeCompleted:
					done = ""
				}
				if done != "" && strings.Contains(" "+strings.Join(s.called(), " ")+" ", " "+done+" ") {
					t.Errorf("cancelled at event %d: %s was called again", at, done)
				}
			}
		}
	}
}

// Waits for another attempt, also in a sub-workflow, do not delay the end of a cancelled run.
func TestACancelledRunWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		time.AfterFunc(time.Minute, func() { cancel(errors.New("enough")) })
		const waits = `,"retry":{"max":6,"wait":1000,"max_wait":1000}`
		p := newBench(t).play(ctx, `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":{"nodes":[
			{"id":"n","type":"read-file","params":{"file_path":"none"}`+waits+`},
			{"id":"each","type":"read-file","params":{"file_path":"${item}"}`+waits+`,"batch":{"items":["a","b"],"parallel":true}}]}}}]}`)
		p.ended(t, event.Cancelled)
		if got := p.nodes(event.NodeCancelled); got != "s s/each s/n" || p.last.Time.Sub(p.events[0].Time) != time.Minute {
			t.Errorf("cancelled %s after %v", got, p.last.Time.Sub(p.events[0].Time))
		}
	})
}
