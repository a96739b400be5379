package engine_test

import (
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

// retried returns a workflow of one shell node with a retry. The command records its attempts in the file n.
func retried(command, retry string) string {
	node := shellNode("a", `echo "$PFLOW_ATTEMPT" >> n; `+command)
	return `{"nodes":[` + node[:len(node)-1] + `,"retry":` + retry + `}]}`
}

func TestANodeIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		command, retry string
		attempts       int
		waits          string
		status         event.Status
	}{
		"until it succeeds":        {"test $PFLOW_ATTEMPT -ge 3", `{"max":6}`, 3, "[0 0]", event.Completed},
		"as often as it may":       {"exit 7", `{"max":3,"wait":0.001}`, 3, "[1 1]", event.Failed},
		"with growing waits":       {"exit 7", `{"max":5,"wait":0.001,"backoff":"exponential","max_wait":0.003}`, 5, "[1 2 3 3]", event.Failed},
		"after some exit statuses": {"exit $((75 - (PFLOW_ATTEMPT > 2)))", `{"max":10,"only_exit_codes":[75]}`, 3, "[0 0]", event.Failed},
		"not after others":         {"exit 1", `{"max":10,"only_exit_codes":[75]}`, 1, "[]", event.Failed},
		"not after a success":      {"true", `{"max":10}`, 1, "[]", event.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := b.play(t.Context(), retried(c.command, c.retry))
			p.ended(t, c.status)
			var want strings.Builder
			for i := range c.attempts {
				fmt.Fprintf(&want, "%d\n", i+1)
			}
			if got := b.file("n"); got != want.String() {
				t.Errorf("attempts %q, want %q", got, want.String())
			}
			waits := []float64{}
			var before time.Time
			for i, e := range p.of(event.NodeFailed) {
				if e.Attempt != i+1 || e.WillRetry == nil || *e.WillRetry != (e.RetryInMS != nil) || *e.WillRetry != (i+1 < c.attempts) {
					t.Errorf("failure %d: %+v", i, e)
				}
				if e.RetryInMS != nil {
					waits = append(waits, *e.RetryInMS)
				}
			}
			for i, e := range p.of(event.NodeStarted) {
				if i > 0 && e.Time.Sub(before) < time.Duration(waits[i-1]*float64(time.Millisecond)) {
					t.Errorf("attempt %d came %v after the one before it failed", e.Attempt, e.Time.Sub(before))
				}
				if fails := p.of(event.NodeFailed); i < len(fails) {
					before = fails[i].Time
				}
			}
			if got := fmt.Sprint(waits); got != c.waits {
				t.Errorf("waits %s, want %s", got, c.waits)
			}
			if ends := p.of(event.NodeCompleted); c.status == event.Completed && (len(ends) != 1 || ends[0].Attempt != c.attempts) {
				t.Errorf("%+v", ends)
			}
		})
	}
}

func TestTheAnnouncedWaitHasTheJitter(t *testing.T) {
	p := newBench(t).play(t.Context(), retried("exit 1", `{"max":21,"wait":0.002,"jitter":0.5}`))
	different := map[float64]bool{}
	for _, e := range p.of(event.NodeFailed) {
		if e.RetryInMS == nil {
			continue
		}
		if *e.RetryInMS < 1 || *e.RetryInMS > 3 {
			t.Errorf("%v ms", *e.RetryInMS)
		}
		different[*e.RetryInMS] = true
	}
	if len(different) < 2 {
		t.Errorf("all 20 waits are the same: %v", different)
	}
}

func TestWhatWouldFailAgainIsNotTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		params string
		kind   fault.Type
	}{
		"a template that leads nowhere":  {`{"message":"${src.data.gone}"}`, fault.Template},
		"a parameter of the wrong type":  {`{"count":"${src.data.text}"}`, fault.Execution},
		"one that is required and empty": {`{"url":"${src.data.null}"}`, fault.Execution},
	} {
		t.Run(name, func(t *testing.T) {
			kind := "echo"
			if strings.Contains(c.params, "url") {
				kind = "http"
			}
			p := newBench(t).play(t.Context(), `{"nodes":[{"id":"src","type":"echo","params":{"data":{"text":"many","null":null}}},
				{"id":"n","type":"`+kind+`","params":`+c.params+`,"retry":{"max":4}}]}`)
			p.failed(t, c.kind)
			if got := p.of(event.NodeFailed); len(got) != 1 || *got[0].WillRetry || *p.last.NodesExecuted != 2 {
				t.Errorf("%d failures", len(got))
			}
		})
	}
}

// A node uses no slot while it waits for its next attempt: another runs meanwhile, even if there is only one slot.
func TestAWaitTakesNoPlace(t *testing.T) {
	s, b := newService(t), newBench(t)
	other := make(chan struct{})
	s.answer = func(path string, n int, gone <-chan struct{}) (int, string) {
		if path == "other" {
			close(other)
			return http.StatusOK, "{}"
		}
		if n == 1 {
			return http.StatusBadGateway, "{}"
		}
		select {
		case <-other:
		case <-gone:
		}
		return http.StatusOK, "{}"
	}
	def := `{"nodes":[` + s.node("a", "a", `,"retry":{"max":2,"wait":0.01}`) + `,` + s.node("b", "other", "") + `,{"id":"c","type":"echo","params":{"data":"${a.status_code}"}}]}`
	p := b.play(t.Context(), def, func(c *engine.Config) { c.Jobs = 1 })
	p.ended(t, event.Completed)
	if got := strings.Join(s.calls, " "); got != "a other a" {
		t.Errorf("called %s", got)
	}
}

func TestASubWorkflowIsTriedAgainAsAWhole(t *testing.T) {
	s, b := newService(t), newBench(t)
	s.answer = func(path string, n int, _ <-chan struct{}) (int, string) {
		if path == "second" && n == 1 {
			return http.StatusBadGateway, "{}"
		}
		return http.StatusOK, "{}"
	}
	b.saved["sub"] = `{"nodes":[` + s.node("x", "first", "") + `,` + s.node("y", "second", "") + `],"edges":[{"from":"x","to":"y"}]}`
	def := `{"nodes":[{"id":"a","type":"workflow","params":{"workflow":"sub"},"retry":{"max":3}}]}`
	p := b.play(t.Context(), def)
	p.ended(t, event.Completed)
	if got := strings.Join(s.calls, " "); got != "first second first second" {
		t.Errorf("called %s", got)
	}
	// A resumed run reuses the nodes of the first attempt. The second attempt begins anew.
	cut := 0
	for i, e := range p.events {
		if e.Event == event.NodeCompleted {
			cut = i + 1
			break
		}
	}
	s.anew()
	second := b.play(t.Context(), def, p.from(b, cut))
	second.ended(t, event.Completed)
	if got := strings.Join(s.calls, " "); got != "second first second" {
		t.Errorf("called %s", got)
	}
}

// A second attempt has its wait, also in a run that resumed the first.
func TestAWaitAfterGoingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.saved["sub"] = `{"nodes":[{"id":"a","type":"echo"},{"id":"b","type":"read-file","params":{"file_path":"${a.data ?? \"none\"}"}}]}`
		def := `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":"sub"},"retry":{"max":2,"wait":50}}]}`
		p := b.play(t.Context(), def)
		for i, e := range p.events {
			if e.Event == event.NodeCompleted && e.Attempt == 1 {
				p = b.play(t.Context(), def, p.from(b, i+1))
				break
			}
		}
		if took := p.last.Time.Sub(p.events[0].Time); p.nodes(event.NodeReused) != "s/a" || took != 50*time.Second {
			t.Errorf("reused %s, it took %v", p.nodes(event.NodeReused), took)
		}
	})
}
