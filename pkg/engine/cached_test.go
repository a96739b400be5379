package engine_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/cache"
	"github.com/pflow-suite/pflow/pkg/event"
)

// cached returns a config change by which runs use the cache of the bench's home, with a clock.
func (b *bench) cached(now *time.Time, writeOnly bool) func(*engine.Config) {
	kept := cache.Open(b.home)
	kept.Now, kept.WriteOnly = func() time.Time { return *now }, writeOnly
	return func(c *engine.Config) { c.Cache = kept }
}

func TestTheCacheGivesWhatWasPutOut(t *testing.T) {
	s, b := newService(t), newBench(t)
	s.answer = func(path string, n int, _ <-chan struct{}) (int, string) { return http.StatusOK, fmt.Sprint(n) }
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	def := func(path, more string) string {
		return `{"inputs":{"x":{}},"nodes":[` + s.node("a", path+"${x}", `,"cache":`+more) + `,{"id":"after","type":"echo","params":{"data":"${a.response}"}}]}`
	}
	x := func(v string) func(*engine.Config) {
		return func(c *engine.Config) { c.Inputs["x"] = json.RawMessage(v) }
	}
	steps := []struct {
		what  string
		def   string
		x     string
		ages  time.Duration
		write bool
		want  string
		calls string
	}{
		{"the first time", def("p", "true"), `1`, 0, false, "1", "p1"},
		{"the second time", def("p", "true"), `1`, time.Hour, false, "1", "p1"},
		{"another input", def("p", "true"), `2`, 0, false, "1", "p1 p2"},
		{"another definition", def("q", "true"), `1`, 0, false, "1", "p1 p2 q1"},
		{"write only", def("p", "true"), `1`, 0, true, "2", "p1 p1 p2 q1"},
		{"what was written last", def("p", "true"), `1`, 0, false, "2", "p1 p1 p2 q1"},
		{"a day later", def("p", "true"), `1`, 25 * time.Hour, false, "3", "p1 p1 p1 p2 q1"},
		{"within its own time", def("p", `{"ttl":"48h"}`), `1`, 47 * time.Hour, false, "3", "p1 p1 p1 p2 q1"},
		{"after its own time", def("p", `{"ttl":10}`), `1`, 11 * time.Second, false, "4", "p1 p1 p1 p1 p2 q1"},
		{"switched off", def("p", "false"), `1`, 0, false, "5", "p1 p1 p1 p1 p1 p2 q1"},
	}
	for _, c := range steps {
		now = now.Add(c.ages)
		p := b.play(t.Context(), c.def, b.cached(&now, c.write), x(c.x))
		p.ended(t, event.Completed)
		if got := strings.Join(s.called(), " "); p.get("after.data") != c.want || got != c.calls {
			t.Errorf("%s: got %s, want %s; called %s, want %s", c.what, p.get("after.data"), c.want, got, c.calls)
		}
		for _, e := range p.of(event.NodeReused) {
			if !e.Cached || e.FromRun == "" || e.FromRun == p.id || e.InputDigest == "" || *p.last.NodesReused != 1 || *p.last.NodesExecuted != 1 {
				t.Errorf("%s: %+v", c.what, e)
			}
		}
	}
	// In another folder, relative paths mean other files.
	p := b.play(t.Context(), def("p", "true"), b.cached(&now, false), x("1"), func(c *engine.Config) { c.Host.Dir = t.TempDir() })
	if len(p.of(event.NodeReused)) != 0 {
		t.Error("taken from a run in another folder")
	}
}

func TestTheCacheOfOtherNodes(t *testing.T) {
	for name, c := range map[string]struct {
		node  string
		calls int // in both runs together
	}{
		"a batch":                      {`,"batch":{"items":["a","b"]}`, 2},
		"a sub-workflow":               {"", 1},
		"a batch with a failure":       {`,"batch":{"items":["a","bad"],"error_handling":"continue"}`, 3},
		"a failure that an edge takes": {"", 2},
	} {
		t.Run(name, func(t *testing.T) {
			s, b := failing(t), newBench(t)
			now := time.Now()
			b.saved["sub"] = `{"nodes":[` + s.node("call", "a", "") + `]}`
			node, edges := s.node("n", "${item}", c.node+`,"cache":true`), ""
			switch {
			case strings.HasSuffix(name, "edge takes"):
				node, edges = s.node("n", "bad", `,"cache":true`)+`,{"id":"mend","type":"echo"}`, `,"edges":[{"from":"n","to":"mend","action":"error"}]`
			case c.node == "":
				node = `{"id":"n","type":"workflow","params":{"workflow":"sub"},"cache":true}`
			}
			first := b.play(t.Context(), `{"nodes":[`+node+`]`+edges+`}`, b.cached(&now, false))
			second := b.play(t.Context(), `{"nodes":[`+node+`]`+edges+`}`, b.cached(&now, false))
			if !first.last.Status.Succeeded() || first.last.Status != second.last.Status || len(s.calls) != c.calls {
				t.Errorf("%s, then %s, %d calls", first.last.Status, second.last.Status, len(s.calls))
			}
			if edges == "" && withoutTimes(first.last.Outputs) != withoutTimes(second.last.Outputs) {
				t.Errorf("\n%s\n%s", first.last.Outputs, second.last.Outputs)
			}
		})
	}
}

// withoutTimes returns outputs without how long the items of a batch took, and without the date of a failed request.
func withoutTimes(outputs json.RawMessage) string {
	n := gjson.GetBytes(outputs, "n")
	if !n.Get("results").Exists() {
		return n.Raw
	}
	return n.Get("results").Raw + n.Get("errors.#.item").Raw + n.Get("count").Raw
}

// Only the items that failed, or that are new, run again. The others are the items of the earlier run, whatever place they
// have in the list now.
func TestACachedBatchKeepsWhatSucceeded(t *testing.T) {
	for _, handling := range []string{"continue", "fail_fast"} {
		t.Run(handling, func(t *testing.T) {
			s, b := newService(t), newBench(t)
			s.answer = func(path string, n int, _ <-chan struct{}) (int, string) {
				if path == "c" && n < 3 {
					return http.StatusBadGateway, "{}"
				}
				return http.StatusOK, fmt.Sprint(n)
			}
			now := time.Now()
			run := func(items string) *played {
				batch := `,"cache":true,"batch":{"error_handling":"` + handling + `","items":` + items + `}`
				return b.play(t.Context(), `{"nodes":[`+s.node("n", "${item}", batch)+`]}`, b.cached(&now, false))
			}
			for i, step := range []struct{ items, calls string }{
				{`["a","b","c"]`, "a b c"},
				{`["a","b","c"]`, "a b c c"},
				{`["c","d","a"]`, "a b c c c d"},
				{`["d","a","c","b"]`, "a b c c c d"},
			} {
				p := run(step.items)
				if got := strings.Join(s.called(), " "); got != step.calls {
					t.Errorf("run %d: called %s, want %s", i, got, step.calls)
				}
				done := p.of(event.ItemCompleted)
				for _, e := range done {
					if e.Cached != (e.FromRun != "") || e.FromRun == p.id || e.InputDigest == "" {
						t.Errorf("run %d: %+v", i, e)
					}
				}
				if reused := len(p.of(event.NodeReused)) == 1; reused != (i == 3) || reused && (len(done) != 4 || *p.last.NodesReused != 1 || *p.last.NodesExecuted != 0 || !p.of(event.NodeReused)[0].Cached) {
					t.Errorf("run %d: reused %v, %d items, %+v", i, reused, len(done), p.last)
				}
				if i == 3 && (p.get("n.results.#.original_index") != "[0,1,2,3]" || p.get("n.results.#.response") != `["1","1","3","1"]` && p.get("n.results.#.response") != "[1,1,3,1]") {
					t.Errorf("%s", p.get("n.results"))
				}
			}
		})
	}
}

func TestWhatLacksASecretIsNotCached(t *testing.T) {
	b := newBench(t)
	now := time.Now()
	def := `{"inputs":{"key":{"secret":true}},"nodes":[` +
		strings.Replace(shellNode("tells", "echo tells >> ran; echo ${key}"), `}}`, `},"cache":true}`, 1) + `,` +
		strings.Replace(shellNode("keeps", `echo keeps >> ran; test -n "${key}"`), `}}`, `},"cache":true}`, 1) + `]}`
	for range 2 {
		b.play(t.Context(), def, secretly, b.cached(&now, false), func(c *engine.Config) { c.Jobs = 1 }).ended(t, event.Completed)
	}
	if got := b.file("ran"); got != "tells\nkeeps\ntells\n" {
		t.Errorf("ran %q", got)
	}
	files, err := filepath.Glob(b.home.Path("cache", "*"))
	if err != nil || len(files) != 1 {
		t.Errorf("kept %s", files)
	}
}

// A node taken from the cache can be reused like one that was executed.
func TestWhatCameFromTheCacheIsReused(t *testing.T) {
	s, b := newService(t), newBench(t)
	now := time.Now()
	def := func(end string) string {
		return `{"nodes":[` + s.node("a", "a", `,"cache":true`) + `,{"id":"after","type":"echo","params":{"data":"${a.status_code}` + end + `"}}]}`
	}
	b.play(t.Context(), def(""), b.cached(&now, false))
	second := b.play(t.Context(), def(""), b.cached(&now, false))
	third := b.play(t.Context(), def("!"), second.whole(b))
	if got := third.nodes(event.NodeReused); got != "a" || len(s.calls) != 1 || third.get("after.data") != `"200!"` {
		t.Errorf("reused %s, %d calls, %s", got, len(s.calls), third.get("after.data"))
	}
}
