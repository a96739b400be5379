package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// took returns the time from the first to the last event of a run.
func (p *played) took() time.Duration { return p.last.Time.Sub(p.events[0].Time) }

func TestALoopWaitsBetweenItsIterations(t *testing.T) {
	for name, c := range map[string]struct {
		loop string
		took time.Duration
	}{
		"no wait":             {`"max_iterations":5`, 0},
		"the same each time":  {`"max_iterations":4,"wait":"30s"`, 90 * time.Second},
		"longer than default": {`"max_iterations":3,"wait":"5m"`, 10 * time.Minute},
		"doubled":             {`"max_iterations":5,"wait":10,"backoff":"exponential"`, (10 + 20 + 40 + 60) * time.Second},
		"bounded":             {`"max_iterations":5,"wait":10,"backoff":"exponential","max_wait":"30s"`, (10 + 20 + 30 + 30) * time.Second},
		"templates":           {`"max_iterations":"${set.data.n}","wait":"${set.data.wait}s","backoff":"${set.data.backoff}","max_wait":"${set.data.most}"`, (10 + 15) * time.Second},
		"its own output":      {`"max_iterations":4,"wait":"${n.data}"`, (1 + 2 + 3) * time.Second},
		"one iteration":       {`"max_iterations":1,"wait":"1h"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newBench(t).play(t.Context(), `{"nodes":[{"id":"set","type":"echo","params":{"data":{"n":"3","wait":10,"backoff":"exponential","most":"15s"}}},
					{"id":"n","type":"echo","params":{"data":"${__iteration__}"},"loop":{"while":true,`+c.loop+`}},{"id":"after","type":"echo","params":{"data":"${n.data} ${set.data.n}"}}]}`)
				p.ended(t, event.Completed)
				if p.took() != c.took {
					t.Errorf("it took %v, want %v", p.took(), c.took)
				}
			})
		})
	}
}

// A wait is part of the node's time, and what the waiting node needs of the run's slots is free meanwhile.
func TestTheWaitOfALoopEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newBench(t).play(t.Context(), `{"nodes":[{"id":"n","type":"echo","timeout":100,"loop":{"while":true,"wait":30,"max_iterations":1000}}]}`)
		p.failed(t, fault.Timeout, "100 seconds")
		if p.took() != 100*time.Second || len(p.of(event.IterationCompleted)) != 4 {
			t.Errorf("%v, %d iterations", p.took(), len(p.of(event.IterationCompleted)))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		loop := func(id string) string {
			return `{"id":"` + id + `","type":"echo","loop":{"while":true,"wait":30,"max_iterations":3}}`
		}
		p := newBench(t).play(t.Context(), `{"nodes":[`+loop("a")+`,`+loop("b")+`,`+loop("c")+`]}`, func(c *engine.Config) { c.Jobs = 1 })
		p.ended(t, event.Completed)
		if p.took() != time.Minute {
			t.Errorf("three loops took %v", p.took())
		}
	})
}

func TestAFieldOfALoopMustFit(t *testing.T) {
	for field, c := range map[string]struct{ value, want string }{
		"max_iterations": {`"0"`, "a whole number from 1 to 10000"},
		"wait":           {`"soon"`, "a duration"},
		"backoff":        {`"linear"`, "fixed or exponential"},
		"max_wait":       {`0`, "a duration of more than 0"},
	} {
		t.Run(field, func(t *testing.T) {
			def := map[string]string{
				"max_iterations": `"while":true,"max_iterations":"${x.data}"`, "wait": `"while":true,"wait":"${x.data}"`,
				"backoff": `"while":true,"wait":1,"backoff":"${x.data}"`, "max_wait": `"while":true,"wait":1,"max_wait":"${x.data}"`,
			}[field]
			p := newBench(t).play(t.Context(), `{"nodes":[{"id":"x","type":"echo","params":{"data":`+c.value+`}},{"id":"n","type":"echo","retry":3,"loop":{`+def+`}}]}`)
			p.failed(t, fault.Execution, "loop."+field+" must be "+c.want)
			if f := p.last.Error; f != nil && (f.Node != "n" || f.Path != "loop."+field) || len(p.of(event.NodeFailed)) != 1 {
				t.Errorf("%+v, %d failures", f, len(p.of(event.NodeFailed)))
			}
		})
	}
}
