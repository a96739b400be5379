package engine_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// hanging is a service that answers paths that begin with slow only after the caller has gone away.
func hanging(t *testing.T) *service {
	s := newService(t)
	s.answer = func(path string, _ int, gone <-chan struct{}) (int, string) {
		if strings.HasPrefix(path, "slow") {
			<-gone
		}
		return http.StatusOK, `"` + path + `"`
	}
	return s
}

func TestANodeHasItsTime(t *testing.T) {
	s := hanging(t)
	shell := func(more string) string {
		node := shellNode("n", "sleep 1000 & echo $! >> pids; wait")
		return node[:len(node)-1] + more + `}`
	}
	sub := func(more string) string {
		return `{"id":"n","type":"workflow","params":{"workflow":"sub"}` + more + `}`
	}
	for name, c := range map[string]struct {
		node  string
		words string // separated by |
		fails int    // how many node_failed events the node has
	}{
		"shell, an attempt":              {shell(`,"timeout":{"attempt":0.5}`), "timed out after 0.5 seconds", 1},
		"shell, the node":                {shell(`,"timeout":0.5`), "timed out after 0.5 seconds", 1},
		"shell, tried again":             {shell(`,"timeout":{"attempt":0.05},"retry":{"max":3}`), "timed out after 0.05 seconds", 3},
		"shell, no time for another":     {shell(`,"timeout":{"attempt":100,"node":0.5},"retry":{"max":10}`), "timed out after 0.5 seconds", 1},
		"http, an attempt":               {s.node("n", "slow", `,"timeout":{"attempt":0.5}`), "timed out after 0.5 seconds", 1},
		"http, the node":                 {s.node("n", "slow", `,"timeout":0.5`), "timed out after 0.5 seconds", 1},
		"a file that never ends":         {`{"id":"n","type":"read-file","params":{"file_path":"fifo","allow_special":true},"timeout":0.5}`, "The node timed out after 0.5 seconds", 1},
		"a batch":                        {s.node("n", "slow${item}", `,"timeout":0.5,"batch":{"items":[1,2,3,4],"parallel":true,"max_concurrent":2}`), "'n'|0 of 4 items|timed out after 0.5 seconds", 3},
		"a batch that continues":         {s.node("n", "${item}", `,"timeout":0.5,"batch":{"items":["slow","a","b"],"error_handling":"continue"}`), "'n'|0 of 3 items|timed out after 0.5 seconds", 4},
		"an item":                        {s.node("n", "${item}", `,"timeout":{"attempt":0.5},"batch":{"items":["slow","a"]}`), "/slow timed out after 0.5 seconds", 2},
		"a loop":                         {`{"id":"n","type":"echo","params":{"data":1},"loop":{"while":"${n.data}","max_iterations":10000},"timeout":0.03}`, "timed out after 0.03 seconds", 1},
		"a sub-workflow, an attempt":     {sub(`,"timeout":{"attempt":0.5}`), `The workflow "sub" failed at its node "call": Request to `, 1},
		"a sub-workflow, the node":       {sub(`,"timeout":0.5`), `The workflow "sub" failed at its node "call": Request to `, 1},
		"of a sub-workflow that mends":   {`{"id":"n","type":"workflow","params":{"workflow":"mending"},"timeout":0.5}`, "timed out after 0.5 seconds", 1},
		"of a sub-workflow that retries": {`{"id":"n","type":"workflow","params":{"workflow":"retrying"},"timeout":0.5}`, "timed out after 0.5 seconds", 1},
		"of a batch in a sub-workflow":   {`{"id":"n","type":"workflow","params":{"workflow":"each"},"timeout":0.5}`, "timed out after 0.5 seconds", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.saved["sub"] = `{"nodes":[` + s.node("call", "slow", "") + `]}`
			b.saved["mending"] = `{"nodes":[` + s.node("call", "slow", "") + `,{"id":"mend","type":"echo"}],"edges":[{"from":"call","to":"mend","action":"error"}]}`
			b.saved["retrying"] = `{"nodes":[` + s.node("call", "slow", `,"retry":{"max":100}`) + `]}`
			b.saved["each"] = `{"nodes":[` + s.node("call", "${item}", `,"batch":{"items":["a","slow","b"],"error_handling":"continue"}`) + `]}`
			if err := syscall.Mkfifo(filepath.Join(b.dir, "fifo"), 0o600); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			p := b.play(t.Context(), `{"nodes":[`+c.node+`]}`)
			p.failed(t, fault.Timeout, strings.Split(c.words, "|")...)
			if e := p.last.Error; e != nil && (e.Node != "n" || len(e.Suggestions) == 0) {
				t.Errorf("%+v", e)
			}
			if took := time.Since(began); took > 5*time.Minute {
				t.Errorf("it took %v", took)
			}
			fails := 0
			for _, e := range p.of(event.NodeFailed) {
				if e.Node == "n" {
					fails++
				}
			}
			if fails != c.fails {
				t.Errorf("%d failures, want %d", fails, c.fails)
			}
			for pid := range strings.FieldsSeq(b.file("pids")) {
				if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
					t.Errorf("process %s is left", pid)
				}
			}
		})
	}
}

func TestAfterATimeoutANodeIsTriedAgain(t *testing.T) {
	t.Parallel()
	node := shellNode("n", "test $PFLOW_ATTEMPT = 2 || sleep 1000; echo done")
	p := newBench(t).play(t.Context(), `{"nodes":[`+node[:len(node)-1]+`,"timeout":{"attempt":4},"retry":{"max":2}}]}`)
	p.ended(t, event.Completed)
	if f := p.of(event.NodeFailed); len(f) != 1 || f[0].Error.Type != fault.Timeout || p.get("n.stdout") != `"done"` {
		t.Errorf("%+v %s", f, p.last.Outputs)
	}
}

func TestAnErrorEdgeTakesATimeout(t *testing.T) {
	s, b := hanging(t), newBench(t)
	b.saved["sub"] = `{"nodes":[` + s.node("call", "slow", "") + `]}`
	p := b.play(t.Context(), `{"nodes":[{"id":"n","type":"workflow","params":{"workflow":"sub"},"timeout":0.1},`+s.node("m", "mended", "")+`],"edges":[{"from":"n","to":"m","action":"error"}]}`)
	p.ended(t, event.Degraded)
	if got := p.get("m.response"); got != `"mended"` {
		t.Errorf("%s", got)
	}
}

// The time that a person takes to answer does not count as a node's time.
func TestTheTimeOfANodeBeginsWithItsFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newBench(t).play(t.Context(), `{"nodes":[{"id":"n","type":"echo","timeout":60,"approval":true}]}`, asked(func(engine.Question) string {
			time.Sleep(time.Hour)
			return "yes"
		}))
		p.ended(t, event.Completed)
		if began := p.of(event.ApprovalRequested)[0].Time; p.of(event.NodeStarted)[0].Time.Sub(began) != time.Hour {
			t.Error("it did not wait for the answer")
		}
	})
}

// All attempts, the waits between them and the iterations count.
func TestTheTimeOfANodeIsThatOfAllItDoes(t *testing.T) {
	for name, c := range map[string]struct {
		node string
		took time.Duration
	}{
		"within it":      {`{"id":"n","type":"echo","params":{"count":"${src.echo}"},"timeout":100}`, 0},
		"a wait":         {`{"id":"n","type":"read-file","params":{"file_path":"none"},"timeout":100,"retry":{"max":6,"wait":30}}`, 100 * time.Second},
		"growing waits":  {`{"id":"n","type":"read-file","params":{"file_path":"none"},"timeout":100,"retry":{"max":6,"wait":1,"backoff":"exponential","max_wait":10}}`, 25 * time.Second},
		"waits of items": {`{"id":"n","type":"read-file","params":{"file_path":"${item}"},"timeout":100,"retry":{"max":10,"wait":30},"batch":{"items":["a","b"],"parallel":true}}`, 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newBench(t).play(t.Context(), `{"nodes":[{"id":"src","type":"echo"},`+c.node+`]}`)
				p.ended(t, event.Failed)
				if took := p.events[len(p.events)-1].Time.Sub(p.events[0].Time); took != c.took {
					t.Errorf("it took %v, want %v: %v", took, c.took, p.last.Error)
				}
			})
		})
	}
}

// After a batch has timed out none of its items starts, not even a short one.
func TestAfterItsTimeABatchStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := b.play(t.Context(), `{"nodes":[{"id":"n","type":"write-file","params":{"file_path":"${item}","content":"x"},"timeout":60,"retry":{"max":10,"wait":100},
			"batch":{"items":["","later","last"],"error_handling":"continue"}}]}`)
		p.failed(t, fault.Timeout, "'n'", "0 of 3 items")
		if b.file("later")+b.file("last") != "" || p.last.Time.Sub(p.events[0].Time) != time.Minute {
			t.Errorf("an item was done; it took %v", p.last.Time.Sub(p.events[0].Time))
		}
	})
}
