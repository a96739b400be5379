package engine_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// failing returns a service that fails for paths that begin with bad.
func failing(t *testing.T) *service {
	s := newService(t)
	s.answer = func(path string, _ int, _ <-chan struct{}) (int, string) {
		if strings.HasPrefix(path, "bad") {
			return http.StatusTeapot, `{"why":"` + path + `"}`
		}
		return http.StatusOK, `"` + path + `"`
	}
	return s
}

func TestWhenItemsFail(t *testing.T) {
	for name, c := range map[string]struct {
		batch  string
		status event.Status
		called string
		words  string // separated by |
	}{
		"fail_fast stops":           {`{"items":["a","bad1","b","bad2"]}`, event.Failed, "a bad1", "Batch 'each' failed at item [1]: "},
		"continue goes on":          {`{"items":["a","bad1","b","bad2"],"error_handling":"continue"}`, event.Degraded, "a b bad1 bad2", "node each: 2 of 4 items failed, the first, [1], with: "},
		"parallel continue":         {`{"items":["a","bad1","b","bad2"],"error_handling":"continue","parallel":true}`, event.Degraded, "a b bad1 bad2", "2 of 4 items failed, the first, [1], with: "},
		"all failed":                {`{"items":["bad1","bad2"],"error_handling":"continue"}`, event.Failed, "bad1 bad2", "'each'|all 2 items"},
		"the only one":              {`{"items":["bad1"]}`, event.Failed, "bad1", "Batch 'each' failed at item [0]: "},
		"parallel fail_fast, of 2":  {`{"items":["bad1","a","b","c"],"parallel":true,"max_concurrent":1}`, event.Failed, "bad1", "failed at item [0]"},
		"tried again, all the same": {`{"items":["a","bad1"],"max_retries":3}`, event.Failed, "a bad1 bad1 bad1", "failed at item [1]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := failing(t)
			p := newBench(t).play(t.Context(), `{"nodes":[`+s.node("each", "${item}", `,"batch":`+c.batch)+`]}`)
			p.ended(t, c.status)
			if got := strings.Join(s.called(), " "); got != c.called {
				t.Errorf("called %s, want %s", got, c.called)
			}
			said := strings.Join(p.last.Warnings, "\n")
			if p.last.Error != nil {
				said = p.last.Error.Error()
			}
			for _, words := range append(strings.Split(c.words, "|"), "418") {
				if !strings.Contains(said, words) {
					t.Errorf("%q is not in %q", words, said)
				}
			}
		})
	}
}

func TestFailedItemsAreAmongTheErrorsOnly(t *testing.T) {
	s := failing(t)
	p := newBench(t).play(t.Context(), `{"nodes":[`+s.node("each", "${item}", `,"batch":{"items":["a","bad1","b"],"error_handling":"continue"}`)+`]}`)
	if p.get("each.results.#.item") != `["a","b"]` || p.get("each.results.#.original_index") != "[0,2]" || p.get("each.results.#.response") != `["a","b"]` || p.get("each.results.#.error") != "[]" {
		t.Errorf("%s", p.get("each.results"))
	}
	if p.get("each.count") != "3" || p.get("each.success_count") != "2" || p.get("each.error_count") != "1" || p.get("each.errors.#.index") != "[1]" || p.get("each.errors.0.item") != `"bad1"` || !strings.Contains(p.get("each.errors.0.error"), "418") {
		t.Errorf("%s", p.get("each.errors"))
	}
}

// An item whose parameters cannot be resolved fails like any other, and is not tried again.
func TestAnItemThatCannotBeTried(t *testing.T) {
	def := `{"nodes":[{"id":"each","type":"echo","params":{"message":"${item.name}","count":"${item.count}"},
		"batch":{"items":[{"name":"a","count":1},{"nome":"b"},{"name":"c","count":"many"},{"name":"d","count":2}],"error_handling":"continue","max_retries":3}}]}`
	p := newBench(t).play(t.Context(), def)
	p.ended(t, event.Degraded)
	if p.get("each.results.#.echo") != `["a","d d"]` || p.get("each.errors.#.index") != "[1,2]" || len(p.of(event.NodeFailed)) != 2 {
		t.Errorf("%s, %d failures", p.get("each"), len(p.of(event.NodeFailed)))
	}
}

func TestItemsAreTriedAgain(t *testing.T) {
	for name, policy := range map[string]string{"by the batch": `,"max_retries":3,"retry_wait":0.001}`, "by the node": `},"retry":{"max":3,"wait":0.001}`} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.answer = func(path string, n int, _ <-chan struct{}) (int, string) {
				if path == "b" && n < 3 {
					return http.StatusBadGateway, "{}"
				}
				return http.StatusOK, "{}"
			}
			p := newBench(t).play(t.Context(), `{"nodes":[`+s.node("each", "${item}", `,"batch":{"items":["a","b","c"]`+policy)+`]}`)
			p.ended(t, event.Completed)
			if got := strings.Join(s.calls, " "); got != "a b b b c" {
				t.Errorf("called %s", got)
			}
			for _, e := range p.of(event.NodeFailed) {
				if e.Item == nil || *e.Item != 1 || e.WillRetry == nil || !*e.WillRetry || e.RetryInMS == nil || *e.RetryInMS != 1 {
					t.Errorf("%+v", e)
				}
			}
			if ends := p.of(event.ItemCompleted); len(ends) != 3 || ends[1].Attempt != 3 {
				t.Errorf("%d items ended", len(ends))
			}
		})
	}
}

func TestAnErrorEdgeTakesAFailedBatch(t *testing.T) {
	s := failing(t)
	p := newBench(t).play(t.Context(), `{"nodes":[`+s.node("each", "${item}", `,"batch":{"items":["a","bad"]}`)+`,
		{"id":"mend","type":"echo","params":{"message":"${each.error_count} of ${each.count}: ${each.errors[0].item}"}}],
		"edges":[{"from":"each","to":"mend","action":"error"}]}`)
	p.ended(t, event.Degraded)
	if got := p.get("mend.echo"); got != `"1 of 2: bad"` {
		t.Errorf("%s", got)
	}
}

func TestKeepGoingPastAFailedBatch(t *testing.T) {
	s := failing(t)
	p := newBench(t).play(t.Context(), `{"nodes":[`+s.node("each", "${item}", `,"batch":{"items":["bad","a"]}`)+`,`+s.node("other", "o", "")+`,
		{"id":"reads","type":"echo","params":{"data":"${each.results}"}}]}`, func(c *engine.Config) { c.KeepGoing, c.Jobs = true, 1 })
	p.failed(t, fault.Execution, "failed at item [0]")
	if p.nodes(event.NodeCompleted) != "other" || p.nodes(event.NodeCancelled) != "reads" {
		t.Errorf("completed %s, cancelled %s", p.nodes(event.NodeCompleted), p.nodes(event.NodeCancelled))
	}
}
