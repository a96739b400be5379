package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// keys records the key of each attempt of one or more runs.
type keys struct {
	mu sync.Mutex
	// of has the distinct keys of a place: a node's path, item and iteration. calls has them by the place with its parameters,
	// and places the places with their parameters by key.
	of, calls, places map[string]map[string]bool
	attempts          int
	// fails decides which attempts fail. It may be nil.
	fails func(a engine.Attempt) bool
}

func newKeys() *keys {
	return &keys{of: map[string]map[string]bool{}, calls: map[string]map[string]bool{}, places: map[string]map[string]bool{}}
}

func put(m map[string]map[string]bool, k, v string) {
	if m[k] == nil {
		m[k] = map[string]bool{}
	}
	m[k][v] = true
}

// watch is a config change by which the keys are recorded.
func (k *keys) watch(c *engine.Config) {
	here := engine.Local(c.Host)
	c.Execute = func(ctx context.Context, a engine.Attempt) engine.Result {
		place := fmt.Sprintf("%s %d %d", a.Node, a.Item, a.Iteration)
		k.mu.Lock()
		k.attempts++
		put(k.of, place, a.Key)
		put(k.calls, place+string(a.Call.Params), a.Key)
		put(k.places, a.Key, place+string(a.Call.Params))
		k.mu.Unlock()
		if k.fails != nil && k.fails(a) {
			return engine.Result{Action: "error", Fault: fault.New(fault.Execution, "not now")}
		}
		return here(ctx, a)
	}
}

// one returns the only key of a place.
func (k *keys) one(t *testing.T, place string) string {
	t.Helper()
	all := slices.Collect(maps.Keys(k.of[place]))
	if len(all) != 1 {
		t.Fatalf("%s has the keys %q", place, all)
	}
	return all[0]
}

// keyed has a retried node, a batch, a loop and a sub-workflow for each item of a list.
const keyed = `{"inputs":{"word":{},"pin":{}},"nodes":[
	{"id":"first","type":"echo","params":{"data":"${word}"},"retry":{"max":3,"wait":0.001}},
	{"id":"twin","type":"echo","params":{"data":"${word}"}},
	{"id":"each","type":"echo","params":{"data":"same"},"batch":{"items":[1,1],"parallel":true}},
	{"id":"round","type":"echo","params":{"data":"same"},"loop":{"while":"${round.data}","max_iterations":3}},
	{"id":"login","type":"echo","params":{"data":{"api_key":"${pin}"}}},
	{"id":"sub","type":"workflow","batch":{"items":["x","y"]},"params":{"workflow":{
		"nodes":[{"id":"in","type":"echo","params":{"data":"same"}},{"id":"again","type":"echo","params":{"data":"${__iteration__}"},"loop":{"while":"${again.data}","max_iterations":2}}],
		"edges":[{"from":"in","to":"again"}]}}}],
	"edges":[{"from":"first","to":"twin"},{"from":"twin","to":"each"},{"from":"each","to":"round"},{"from":"round","to":"login"},{"from":"login","to":"sub"}]}`

var keyedPlaces = []string{
	"first -1 0", "twin -1 0", "each 0 0", "each 1 0", "round -1 1", "round -1 2", "round -1 3", "login -1 0",
	"sub[0]/in -1 0", "sub[0]/again -1 1", "sub[0]/again -1 2", "sub[1]/in -1 0", "sub[1]/again -1 1", "sub[1]/again -1 2",
}

// inputs returns a config change that sets the inputs of keyed.
func inputs(word, pin string) func(*engine.Config) {
	return func(c *engine.Config) {
		c.Inputs["word"], c.Inputs["pin"] = json.RawMessage(`"`+word+`"`), json.RawMessage(`"`+pin+`"`)
	}
}

func TestNodeKeys(t *testing.T) {
	b, k := newBench(t), newKeys()
	k.fails = func(a engine.Attempt) bool { return a.Node == "first" && a.Number < 3 }
	p := b.play(t.Context(), keyed, inputs("w", "1234"), k.watch)
	p.ended(t, event.Completed)
	if got := slices.Sorted(maps.Keys(k.of)); !slices.Equal(got, slices.Sorted(slices.Values(keyedPlaces))) || k.attempts != len(keyedPlaces)+2 {
		t.Fatalf("%d attempts at %q", k.attempts, got)
	}
	form, seen := regexp.MustCompile(`^[0-9a-f]{32}$`), map[string]string{}
	for _, place := range keyedPlaces { // "first" has one key in its three attempts
		key := k.one(t, place)
		if other, twice := seen[key]; twice || !form.MatchString(key) {
			t.Errorf("%s has the key %q, which %q has too", place, key, other)
		}
		seen[key] = place
	}
	if first := p.events[0]; first.FirstRun != "" {
		t.Errorf("%+v", first)
	}

	other := newKeys()
	b.play(t.Context(), keyed, inputs("w", "1234"), other.watch)
	for _, place := range keyedPlaces {
		if other.one(t, place) == k.one(t, place) {
			t.Errorf("%s has the same key in a run of its own", place)
		}
	}

	// The run is resumed from its first event, so everything runs again, with another parameter and another secret.
	changed := newKeys()
	b.play(t.Context(), keyed, inputs("v", "5678"), changed.watch, p.from(b, 1))
	for _, place := range keyedPlaces {
		if differs := changed.one(t, place) != k.one(t, place); differs != strings.Contains("first twin", place[:strings.IndexByte(place, ' ')]) {
			t.Errorf("%s: another key: %t", place, differs)
		}
	}
}

// The key is in the environment of a node's process, and is not taken from the environment of the runner.
func TestANodeKeyIsInTheEnvironment(t *testing.T) {
	b := newBench(t)
	var key string
	p := b.play(t.Context(), `{"nodes":[`+shellNode("a", "printf %s $PFLOW_NODE_KEY")+`]}`, func(c *engine.Config) {
		c.Host.Env = append(c.Host.Env, engine.KeyVariable+"=outer")
		here := engine.Local(c.Host)
		c.Execute = func(ctx context.Context, a engine.Attempt) engine.Result {
			key = a.Key
			return here(ctx, a)
		}
	})
	if got := p.get("a.stdout"); key == "" || got != `"`+key+`"` {
		t.Errorf("%s, want %s", got, key)
	}
	if !slices.Contains(engine.Variables, engine.KeyVariable) {
		t.Error("it is not among the engine's variables")
	}
}

// Wherever a run is cut, and cut again, the runs that resume it have its keys.
func TestNodeKeysAfterEveryPrefix(t *testing.T) {
	b, k := newBench(t), newKeys()
	first := b.play(t.Context(), keyed, inputs("w", "1234"), k.watch)
	for n := 1; n <= len(first.lines); n++ {
		second := b.play(t.Context(), keyed, inputs("w", "1234"), k.watch, first.from(b, n))
		third := b.play(t.Context(), keyed, inputs("w", "1234"), k.watch, second.from(b, max(1, len(second.lines)-n)))
		for _, p := range []*played{second, third} {
			if p.events[0].FirstRun != first.id {
				t.Errorf("cut at %d: the first run is %q, want %s", n, p.events[0].FirstRun, first.id)
			}
		}
	}
	for _, place := range keyedPlaces {
		k.one(t, place)
	}
}

// A stream of before first_run was recorded names the run that it resumed, or is the first itself.
func TestTheFirstRunOfAnOldStream(t *testing.T) {
	b, k := newBench(t), newKeys()
	first := b.play(t.Context(), keyed, inputs("w", "1234"), k.watch)
	second := b.play(t.Context(), keyed, inputs("w", "1234"), k.watch, first.from(b, 3))
	second.lines[0] = []byte(strings.Replace(string(second.lines[0]), `,"first_run":"`+first.id+`"`, "", 1))
	if strings.Contains(string(second.lines[0]), "first_run") {
		t.Fatalf("%s", second.lines[0])
	}
	third := b.play(t.Context(), keyed, inputs("w", "1234"), k.watch, second.from(b, 1))
	if third.events[0].ResumedFrom != second.id || third.events[0].FirstRun != first.id {
		t.Errorf("%+v", third.events[0])
	}
	for _, place := range keyedPlaces {
		k.one(t, place)
	}
}

// Whatever the workflow and wherever its run is cut: attempts with the same place and parameters have the same key in all runs
// of a chain, and no others have it.
func TestNodeKeysOfRandomWorkflows(t *testing.T) {
	b, w, s := newBench(t), &world{}, newService(t)
	s.answer = w.play
	rapid.Check(t, func(t *rapid.T) {
		b.t = t
		flow, k := draw(t, s.url), newKeys()
		adjust := func(c *engine.Config) {
			c.Ask, c.KeepGoing, c.Jobs = w.answer, flow.keepGoing, rapid.IntRange(1, 4).Draw(t, "jobs")
			k.watch(c)
		}
		w.steady, w.failed = true, map[string]bool{}
		p := b.play(context.Background(), flow.definition, adjust)
		for range 5 {
			p = b.play(context.Background(), flow.definition, adjust, p.from(b, rapid.IntRange(1, len(p.lines)).Draw(t, "cut")))
		}
		for call, keys := range k.calls {
			if len(keys) != 1 {
				t.Fatalf("%s has the keys %v\n%s", call, keys, flow.definition)
			}
		}
		for key, calls := range k.places {
			if len(calls) != 1 {
				t.Fatalf("%s is the key of %v\n%s", key, calls, flow.definition)
			}
		}
	})
}
