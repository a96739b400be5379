package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// scriptedClock stands still except when it is advanced.
type scriptedClock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*time.Time]func()
	// waits receives every wait that begins.
	waits chan time.Duration
}

func newScriptedClock() *scriptedClock {
	return &scriptedClock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), timers: map[*time.Time]func(){}, waits: make(chan time.Duration, 100)}
}

func (c *scriptedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *scriptedClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.now.Add(d)
	c.timers[&at] = f
	c.waits <- d
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, pending := c.timers[&at]
		delete(c.timers, &at)
		return pending
	}
}

// advance lets time pass and calls what is due.
func (c *scriptedClock) advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for at, f := range c.timers {
		if !at.After(c.now) {
			due = append(due, f)
			delete(c.timers, at)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// scripted makes a config take its time and randomness from a script.
func scripted(c *engine.Config, clock *scriptedClock, seed uint64) {
	c.Now, c.AfterFunc, c.Rand = clock.Now, clock.AfterFunc, rand.NewPCG(seed, 0).Uint64
	c.Span = trace.Span{Trace: strings.Repeat("1", 32), ID: strings.Repeat("2", 16)}
}

const replayed = `{"nodes":[
	{"id":"first","type":"echo","params":{"data":[1,2,3]}},
	{"id":"flaky","type":"echo","params":{"data":"${first.data}"},"retry":{"max":4,"wait":20,"backoff":"exponential","max_wait":60,"jitter":0.5}},
	{"id":"each","type":"echo","params":{"data":"${item} ${flaky.data[0]}"},"batch":{"items":"${first.data}","max_retries":2,"retry_wait":7}},
	{"id":"again","type":"echo","params":{"data":"${__iteration__}","inputs":{"c":"${each.count}"}},"loop":{"while":"${again.data}","max_iterations":3,"carry":{"c":"${again.data}"}}},
	{"id":"asked","type":"echo","params":{"data":"${again.loop_stopped}"},"approval":true},
	{"id":"sub","type":"workflow","params":{"inputs":{"x":"${asked.data}"},"workflow":{"inputs":{"x":{}},
		"nodes":[{"id":"in","type":"echo","params":{"data":"${x}"}},{"id":"late","type":"echo","params":{"data":"${in.data}"},"timeout":3600},{"id":"saved","type":"echo"}],
		"edges":[{"from":"in","to":"late"},{"from":"late","to":"saved","action":"error"}]}}}],
	"edges":[{"from":"first","to":"flaky"},{"from":"flaky","to":"each"},{"from":"each","to":"again"},{"from":"again","to":"asked"},{"from":"asked","to":"sub"}]}`

// replay runs a workflow whose nodes, time and randomness come from a script. It returns the journal and the waits.
func replay(t *testing.T, seed uint64) (lines []byte, waits []time.Duration) {
	clock := newScriptedClock()
	c, j := inMemory(t, replayed, clock.Now)
	scripted(&c, clock, seed)
	c.Jobs = 1
	c.Ask = func(context.Context, engine.Question) (string, string, error) { return "yes", "t", nil }
	c.Execute = func(ctx context.Context, a engine.Attempt) engine.Result {
		clock.advance(time.Duration(len(a.Node)) * time.Second)
		a.Progress(float64(a.Number), 0, a.Node)
		switch {
		case a.Node == "flaky" && a.Number < 3, a.Node == "each" && a.Item == 1 && a.Number < 2:
			return engine.Result{Action: "error", Fault: fault.New(fault.Execution, "not yet")}
		case a.Node == "sub/late":
			clock.advance(time.Hour)
			<-ctx.Done()
			return engine.Result{Action: "error", Fault: fault.From(context.Cause(ctx))}
		}
		data := gjson.GetBytes(a.Call.Params, "data").Raw
		if data == "" {
			data = "null"
		}
		return engine.Result{Outputs: json.RawMessage(`{"echo":"","data":` + data + `}`)}
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for d := range clock.waits {
			if d < time.Hour { // else a timeout, and no wait for an attempt
				waits = append(waits, d)
				clock.advance(d)
			}
		}
	})
	last, err := engine.Run(t.Context(), c)
	close(clock.waits)
	waiting.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if last.Status != event.Degraded || last.Error != nil {
		t.Fatalf("%s: %v", last.Status, last.Error)
	}
	return j.text.Bytes(), waits
}

// With the same clock and the same randomness a run is the same to the byte.
func TestReplay(t *testing.T) {
	first, waits := replay(t, 1)
	if len(waits) != 3 || waits[0] < 10*time.Second || waits[1] < 20*time.Second || waits[2] != 7*time.Second {
		t.Errorf("waits of %v", waits)
	}
	for range 20 {
		if again, _ := replay(t, 1); !bytes.Equal(again, first) {
			t.Fatalf("the first time\n%s\nanother time\n%s", first, again)
		}
	}
	if other, _ := replay(t, 2); bytes.Equal(first, other) {
		t.Error("with another seed the run is the same")
	}
	var failed time.Time
	for line := range bytes.Lines(first) {
		e := gjson.ParseBytes(line)
		if e.Get("node").Str != "flaky" {
			continue
		}
		switch at := e.Get("time").Time(); e.Get("event").Str {
		case string(event.NodeFailed):
			failed = at.Add(time.Duration(e.Get("retry_in_ms").Float() * float64(time.Millisecond)))
		case string(event.NodeStarted):
			if !failed.IsZero() && at.Sub(failed).Abs() > time.Millisecond {
				t.Errorf("attempt %d began at %v, announced for %v", e.Get("attempt").Int(), at, failed)
			}
		}
	}
}

// An attempt begins when its wait is over and not before.
func TestAWaitByTheClock(t *testing.T) {
	clock := newScriptedClock()
	c, _ := inMemory(t, `{"nodes":[{"id":"a","type":"echo","retry":{"max":2,"wait":50}}]}`, clock.Now)
	scripted(&c, clock, 1)
	attempts := make(chan int, 2)
	c.Execute = func(_ context.Context, a engine.Attempt) engine.Result {
		attempts <- a.Number
		if a.Number == 1 {
			return engine.Result{Fault: fault.New(fault.Execution, "not yet")}
		}
		return engine.Result{}
	}
	go func() {
		<-clock.waits
		clock.advance(49 * time.Second)
		if len(attempts) != 1 {
			t.Error("the second attempt began early")
		}
		clock.advance(time.Second)
	}()
	if last := runInMemory(t, c); *last.DurationMS != 50000 || len(attempts) != 2 {
		t.Errorf("%d attempts in %v ms", len(attempts), *last.DurationMS)
	}
}

// The time of a run is that of its clock.
func TestATimeoutByTheClock(t *testing.T) {
	clock := newScriptedClock()
	c, _ := inMemory(t, `{"nodes":[{"id":"a","type":"echo"},{"id":"b","type":"echo","params":{"data":"${a.data}"}}]}`, clock.Now)
	scripted(&c, clock, 1)
	c.Timeout = time.Hour
	c.Execute = func(ctx context.Context, _ engine.Attempt) engine.Result {
		clock.advance(time.Hour)
		<-ctx.Done()
		return engine.Result{Fault: fault.New(fault.Execution, "stopped")}
	}
	last, err := engine.Run(t.Context(), c)
	if err != nil || last.Status != event.TimedOut || *last.NodesExecuted != 1 || *last.DurationMS != 3.6e6 {
		t.Errorf("%+v, %v", last, err)
	}
}
