package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// again returns a config change that resumes from the first n events of a run, with something that runs again.
func (p *played) again(b *bench, n int, a event.Again) func(*engine.Config) {
	resume := p.from(b, n)
	return func(c *engine.Config) {
		resume(c)
		c.Only, c.Again = a.Only, &a
		if _, err := c.Memory.Forget(&c.Flow, a); err != nil {
			b.t.Fatalf("%v", err)
		}
	}
}

// whenReused returns a config change that notes how many events there are when a run has taken over what it reuses. Before that
// the run does not take the place of the one that it resumes.
func (b *bench) whenReused(events *int) func(*engine.Config) {
	return func(c *engine.Config) {
		id := c.RunID
		c.Reused = func() error {
			*events = len(b.read(id, nil).lines)
			return nil
		}
	}
}

// checkpoint returns the checkpoint of an earlier run.
func (b *bench) checkpoint(run string) *resume.Memory {
	var c engine.Config
	p := b.read(run, nil)
	p.whole(b)(&c)
	return c.Memory
}

// ran returns the places of the attempts that were recorded, sorted.
func (k *keys) ran() string {
	places := slices.Sorted(maps.Keys(k.of))
	for i := range places {
		places[i] = strings.TrimSuffix(strings.ReplaceAll(places[i], " -1 ", " "), " 0")
	}
	return strings.Join(places, ", ")
}

// steps has a chain, a side branch that is taken only after a failure, a batch of workflows, and a loop over one.
const steps = `{"nodes":[
	{"id":"a","type":"echo","params":{"data":"A"}},
	{"id":"b","type":"echo","params":{"data":"${a.data}B"}},
	{"id":"help","type":"echo","params":{"data":"H"}},
	{"id":"c","type":"echo","params":{"data":"${b.data}C"}},
	{"id":"each","type":"echo","params":{"data":"${item}"},"batch":{"items":[1,2,3],"error_handling":"continue"}},
	{"id":"many","type":"workflow","batch":{"items":["p","q"]},"params":{"inputs":{"v":"${item}"},"workflow":{"inputs":{"v":{}},
		"nodes":[{"id":"x","type":"echo","params":{"data":"${v}"}},{"id":"y","type":"echo","params":{"data":"${x.data}"}},{"id":"z","type":"echo","params":{"data":1}},{"id":"h","type":"echo"}],
		"edges":[{"from":"x","to":"y"},{"from":"y","to":"z"},{"from":"y","to":"h","action":"error"}],"outputs":{"y":{"source":"${y.data ?? null}"}}}}},
	{"id":"round","type":"workflow","loop":{"while":true,"max_iterations":3},"params":{"workflow":{
		"nodes":[{"id":"i","type":"echo","params":{"data":1}},{"id":"j","type":"echo","params":{"data":2}}],"edges":[{"from":"i","to":"j"}]}}},
	{"id":"last","type":"echo","params":{"data":"${each.success_count}"}}],
	"edges":[{"from":"a","to":"b"},{"from":"b","to":"help","action":"error"},{"from":"b","to":"c"},{"from":"c","to":"each"},{"from":"each","to":"many"},{"from":"many","to":"round"},{"from":"round","to":"last"}]}`

func TestFromANode(t *testing.T) {
	const (
		each  = "each 0 0, each 1 0, each 2 0"
		round = "round#2/i, round#2/j, round#3/i, round#3/j, round/i, round/j"
	)
	for from, want := range map[string]string{
		"a":         "a, b, c, " + each + ", last, many[0]/x, many[0]/y, many[0]/z, many[1]/x, many[1]/y, many[1]/z, " + round,
		"last":      "last",
		"round":     "last, " + round,
		"round/i":   "last, " + round,
		"round/j":   "last, round#2/i, round#2/j, round#3/i, round#3/j, round/j",
		"round#3/i": "last, round#3/i, round#3/j",
		"many/y":    "last, many[0]/y, many[0]/z, many[1]/y, many[1]/z, " + round,
		"many[1]/z": "last, many[1]/z, " + round,
		"many[1]/x": "last, many[1]/x, many[1]/y, many[1]/z, " + round,
		"each":      each + ", last, many[0]/x, many[0]/y, many[0]/z, many[1]/x, many[1]/y, many[1]/z, " + round,
		"round#2/j": "last, round#2/j, round#3/i, round#3/j",
		"many[0]/h": "last, " + round, // no edge to it is taken
	} {
		b := newBench(t)
		first := b.play(t.Context(), steps)
		// The chain is resumed once more, so that the inside of nodes is in an earlier run.
		for _, p := range []*played{first, b.play(t.Context(), steps, first.whole(b))} {
			k := newKeys()
			again := b.play(t.Context(), steps, p.again(b, len(p.lines), event.Again{From: from}), k.watch)
			again.ended(t, event.Completed)
			if got := k.ran(); strings.ReplaceAll(got, " 0", "") != strings.ReplaceAll(want, " 0", "") {
				t.Errorf("from %s:\n%s, want\n%s", from, got, want)
			}
			if again.get("last.data") != "3" || again.events[0].Again.From != from {
				t.Errorf("from %s: %s, %+v", from, again.last.Outputs, again.events[0].Again)
			}
		}
	}
}

// Wherever a run from a node is cut, the run that resumes it does the rest with the keys that the run itself would have used.
func TestFromANodeAfterEveryPrefix(t *testing.T) {
	for _, from := range []string{"b", "each", "many/y", "many[1]/x", "round#2/j"} {
		b, before, after, begun := newBench(t), newKeys(), newKeys(), 0
		first := b.play(t.Context(), steps, before.watch)
		second := b.play(t.Context(), steps, first.again(b, len(first.lines), event.Again{From: from}), after.watch, b.whenReused(&begun))
		for place := range after.of {
			if after.one(t, place) == before.one(t, place) {
				t.Errorf("from %s: %s has the same key again", from, place)
			}
		}
		for n := begun; n < len(second.lines); n++ {
			k := newKeys()
			third := b.play(t.Context(), steps, second.from(b, n), k.watch)
			third.ended(t, event.Completed)
			finished := map[string]bool{}
			for _, e := range second.events[:n] {
				if e.Event == event.NodeCompleted {
					finished[e.Node] = true
				}
			}
			for place := range k.of {
				if after.of[place] == nil {
					t.Fatalf("from %s, cut at %d: %s runs\n%s", from, n, place, second.lines[:n])
				}
				if k.one(t, place) != after.one(t, place) {
					t.Errorf("from %s, cut at %d: %s has another key", from, n, place)
				}
				if node, _, _ := strings.Cut(place, " "); finished[node] {
					t.Errorf("from %s, cut at %d: %s runs again", from, n, place)
				}
			}
		}
	}
}

// A node that had not ended keeps its key, also if it is asked for.
func TestFromANodeThatHadNotEnded(t *testing.T) {
	b, k := newBench(t), newKeys()
	k.fails = func(a engine.Attempt) bool { return a.Node == "c" }
	first := b.play(t.Context(), steps, k.watch)
	first.ended(t, event.Failed)
	k.fails = nil
	second := b.play(t.Context(), steps, first.again(b, len(first.lines), event.Again{From: "b"}), k.watch)
	second.ended(t, event.Completed)
	k.one(t, "c -1 0")
	if len(k.of["b -1 0"]) != 2 || len(k.of["a -1 0"]) != 1 {
		t.Errorf("%v", k.of)
	}
	// Asked again, there is another key.
	third := b.play(t.Context(), steps, second.again(b, len(second.lines), event.Again{From: "b"}), k.watch)
	third.ended(t, event.Completed)
	if len(k.of["b -1 0"]) != 3 || len(k.of["c -1 0"]) != 2 {
		t.Errorf("%v", k.of)
	}
}

func TestRetryFailed(t *testing.T) {
	b, k := newBench(t), newKeys()
	down := true
	k.fails = func(a engine.Attempt) bool {
		return down && (a.Node == "each" && a.Item == 1 || a.Node == "many[1]/y")
	}
	first := b.play(t.Context(), steps, k.watch)
	first.ended(t, event.Degraded)
	if step := first.last.Resume; step != nil && step.Do != fault.DoRetry {
		t.Errorf("got the step %+v, want %s", step, fault.DoRetry)
	}
	reused := b.play(t.Context(), steps, first.whole(b)) // its journal has no items and no inner nodes
	reused.ended(t, event.Degraded)
	down = false
	for _, p := range []*played{first, reused} {
		after := newKeys()
		retried := b.play(t.Context(), steps, p.again(b, len(p.lines), event.Again{RetryFailed: true}), after.watch)
		retried.ended(t, event.Completed)
		want := "each 1, last, many[0]/x, many[0]/y, many[0]/z, many[1]/x, many[1]/y, many[1]/z, round#2/i, round#2/j, round#3/i, round#3/j, round/i, round/j"
		if got := after.ran(); got != want {
			t.Errorf("%s, want\n%s", got, want)
		}
		for place := range after.of {
			if k.of[place][after.one(t, place)] {
				t.Errorf("%s has the same key again", place)
			}
		}
	}
}

// A handled failure inside an item of a batch runs again alone, with what it leads to.
func TestRetryFailedInside(t *testing.T) {
	b, k := newBench(t), newKeys()
	down := true
	k.fails = func(a engine.Attempt) bool { return down && a.Node == "many[1]/y" }
	first := b.play(t.Context(), steps, k.watch)
	if got := first.nodes(event.NodeFailed); first.last.Status != event.Degraded || got != "many[1]/y" {
		t.Fatalf("%s %s", first.last.Status, got)
	}
	for _, p := range []*played{first, b.play(t.Context(), steps, first.whole(b))} {
		after := newKeys()
		after.fails = k.fails
		down = true
		still := b.play(t.Context(), steps, p.again(b, len(p.lines), event.Again{RetryFailed: true}), after.watch)
		still.ended(t, event.Degraded)
		if got, want := after.ran(), "last, many[1]/h, many[1]/y, round#2/i, round#2/j, round#3/i, round#3/j, round/i, round/j"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		down = false
		after = newKeys()
		well := b.play(t.Context(), steps, still.again(b, len(still.lines), event.Again{RetryFailed: true}), after.watch)
		well.ended(t, event.Completed)
		if got, want := after.ran(), "last, many[1]/y, many[1]/z, round#2/i, round#2/j, round#3/i, round#3/j, round/i, round/j"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		for place := range after.of {
			if k.of[place][after.one(t, place)] {
				t.Errorf("%s has the same key again", place)
			}
		}
	}
}

func TestOnlyANode(t *testing.T) {
	for node, want := range map[string]struct{ ran, data, outdated string }{
		"a":         {"a", `"A"`, "b c each last many round"},
		"b":         {"b", `"AB"`, "c each last many round"},
		"help":      {"help", `"H"`, ""},
		"last":      {"last", "3", ""},
		"each":      {"each 0, each 1, each 2", "", "last many round"},
		"many[1]/y": {"many[1]/y", `"q"`, "last many many[1]/z round"},
		"many[0]/h": {"many[0]/h", "", "last many round"},
		"round#2/j": {"round#2/j", "2", "last round"},
		"round/i":   {"round/i", "1", "last round round/j"},
	} {
		b := newBench(t)
		first := b.play(t.Context(), steps)
		for _, p := range []*played{first, b.play(t.Context(), steps, first.whole(b))} {
			k := newKeys()
			only := b.play(t.Context(), steps, p.again(b, len(p.lines), event.Again{Only: node}), k.watch)
			only.ended(t, event.Completed)
			if got := strings.ReplaceAll(k.ran(), " 0", ""); strings.ReplaceAll(want.ran, " 0", "") != got {
				t.Errorf("only %s: %s, want %s", node, got, want.ran)
			}
			if got := only.get(strings.NewReplacer("#", `\#`).Replace(node) + ".data"); want.data != "" && got != want.data {
				t.Errorf("only %s: %s, want %s in %s", node, got, want.data, only.last.Outputs)
			}
			var outdated []string
			for _, e := range only.of(event.NodeReused) {
				if e.Outdated != (e.InputDigest == "") {
					t.Errorf("only %s: %+v", node, e)
				}
				if e.Outdated && !slices.ContainsFunc(outdated, func(o string) bool {
					return strings.HasPrefix(e.Node, o+"/") || strings.HasPrefix(e.Node, o+"[") || strings.HasPrefix(e.Node, o+"#")
				}) {
					outdated = append(outdated, e.Node)
				}
			}
			slices.Sort(outdated)
			frame := node[:strings.LastIndexByte(node, '/')+1] // what is outdated inside other nodes is not listed
			listed := slices.DeleteFunc(slices.Clone(outdated), func(o string) bool {
				return strings.Contains(o, "/") && (frame == "" || !strings.HasPrefix(o, frame))
			})
			if got := strings.Join(listed, " "); got != want.outdated {
				t.Errorf("only %s: outdated are %s, want %s", node, got, want.outdated)
			}

			// A run of everything then does what is outdated, and no more.
			rest := newKeys()
			whole := b.play(t.Context(), steps, only.whole(b), rest.watch)
			whole.ended(t, event.Completed)
			for place := range rest.of {
				ran, _, _ := strings.Cut(place, " ")
				if !slices.ContainsFunc(outdated, func(o string) bool {
					return ran == o || strings.HasPrefix(ran, o+"/") || strings.HasPrefix(ran, o+"[") || strings.HasPrefix(ran, o+"#")
				}) {
					t.Errorf("only %s: then %s runs, outdated are %s", node, place, outdated)
				}
			}
		}
	}
}

// What one node after another did alone adds up.
func TestOnlyOneNodeAfterAnother(t *testing.T) {
	b := newBench(t)
	p := b.play(t.Context(), steps, func(c *engine.Config) {
		k := newKeys()
		k.fails = func(a engine.Attempt) bool { return a.Node == "b" && a.Number == 1 }
		k.watch(c)
	})
	if got := p.nodes(event.NodeCompleted); p.last.Status != event.Degraded || got != "a help" {
		t.Fatalf("%s %s", p.last.Status, got)
	}
	for _, node := range []string{"b", "c", "each", "many", "round", "last"} {
		p = b.play(t.Context(), steps, p.again(b, len(p.lines), event.Again{Only: node}))
		p.ended(t, event.Completed)
	}
	k := newKeys()
	b.play(t.Context(), steps, p.whole(b), k.watch).ended(t, event.Completed)
	if k.ran() != "" {
		t.Errorf("%s runs again", k.ran())
	}
}

// A run of one node that was cut is resumed with that node alone, and with its key.
func TestOnlyANodeAfterEveryPrefix(t *testing.T) {
	for _, node := range []string{"b", "each", "many", "many[1]/y", "round"} {
		b, k, begun := newBench(t), newKeys(), 0
		first := b.play(t.Context(), steps)
		second := b.play(t.Context(), steps, first.again(b, len(first.lines), event.Again{Only: node}), k.watch, b.whenReused(&begun))
		for n := begun; n < len(second.lines); n++ {
			after := newKeys()
			resume := second.from(b, n)
			third := b.play(t.Context(), steps, after.watch, func(c *engine.Config) {
				resume(c)
				c.Only = node
			})
			third.ended(t, event.Completed)
			for place := range after.of {
				if after.one(t, place) != k.one(t, place) {
					t.Errorf("only %s, cut at %d: %s has another key", node, n, place)
				}
			}
			if third.get(node) != second.get(node) && node != "each" && node != "many" {
				t.Errorf("only %s, cut at %d: %s, want %s", node, n, third.last.Outputs, second.last.Outputs)
			}
		}
	}
}

func TestWhatCannotRunAgain(t *testing.T) {
	b := newBench(t)
	first := b.play(t.Context(), steps, func(c *engine.Config) {
		k := newKeys()
		k.fails = func(a engine.Attempt) bool { return a.Node == "many[0]/x" }
		k.watch(c)
	})
	first.ended(t, event.Failed)
	for _, c := range []struct {
		again event.Again
		kind  fault.Type
		facts []string
	}{
		{event.Again{From: "lest"}, fault.NotFound, []string{"lest", `"last"`}},
		{event.Again{Only: "many[0]/w"}, fault.NotFound, []string{"many", "w"}},
		{event.Again{Only: "many/y"}, fault.Usage, []string{"many[0]/y"}},
		{event.Again{Only: "each[1]"}, fault.Usage, []string{"each[1]"}},
		{event.Again{From: "a/b"}, fault.Usage, []string{"a/b"}},
		{event.Again{From: "round[1]/i"}, fault.Usage, []string{"round"}},
		{event.Again{From: "many#2/x"}, fault.Usage, []string{"many"}},
		{event.Again{From: "many[7]/x"}, fault.NotFound, []string{"many[7]"}},
		{event.Again{From: "round#99/i"}, fault.NotFound, []string{"round#99"}},
		{event.Again{From: "a//b"}, fault.Usage, []string{"a//b"}},
		{event.Again{From: "a[x]"}, fault.Usage, []string{"a[x]"}},
		{event.Again{Only: "many[0]/y"}, fault.Template, []string{"many[0]/x"}},
		{event.Again{Only: "many[5]/x"}, fault.Usage, []string{"many", "5", "2"}},
		{event.Again{Only: "round#3/i"}, fault.Usage, []string{"round", "1"}},
	} {
		f := b.refusal(t, first, c.again)
		text := f.Error() + strings.Join(f.Suggestions, " ")
		if f.Type != c.kind || slices.ContainsFunc(c.facts, func(fact string) bool { return !strings.Contains(text, fact) }) {
			t.Errorf("%+v: %+v", c.again, f)
		}
	}
}

// refusal returns why something cannot run again.
func (b *bench) refusal(t *testing.T, p *played, a event.Again) *fault.Fault {
	t.Helper()
	var refused error
	_, last, err := b.try(t.Context(), steps, func(c *engine.Config) {
		p.whole(b)(c)
		c.Only = a.Only
		if _, refused = c.Memory.Forget(&c.Flow, a); refused != nil { // then nothing is executed
			c.Only, c.Flow.Workflow = "", &workflow.Workflow{}
		}
	})
	if refused == nil {
		refused = err
	}
	if refused == nil {
		t.Fatalf("%+v: it ended as %s", a, last.Status)
	}
	return fault.From(refused)
}
