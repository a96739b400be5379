package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/resumecase"
	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
)

// caseSeed is the only case of TestResumesAreHonest to run, or 0.
var caseSeed = flag.Uint64("case", 0, "the seed of the only case of TestResumesAreHonest")

// Whatever the workflow, wherever its run is cut, whatever is changed in one place, and wherever it goes on: the outputs are those of a
// run from its start, and what runs and is asked is what the model says.
func TestResumesAreHonest(t *testing.T) {
	if *caseSeed != 0 {
		honest(t, *caseSeed)
		return
	}
	cases := uint64(5000)
	if testing.Short() {
		cases = 200
	}
	for seed := uint64(1); seed <= cases && !t.Failed(); seed++ {
		honest(t, seed)
	}
}

// honest tries a case.
func honest(t *testing.T, seed uint64) {
	r := resumecase.New(seed)
	c := &caseChain{t: t, seed: seed, Random: r, flow: r.Flow(), had: resumecase.Memory{}, cache: &caseCache{}, cached: map[string]bool{}, runs: map[string]*memoryJournal{}}
	for c.play(c.Once(3)); !t.Failed() && !(c.whole && c.Once(2)) && c.number < 6; c.play(c.Once(3)) {
		c.leave()
	}
	c.leave()
	c.play(false)
	fresh := &caseChain{t: t, seed: seed, Random: r, flow: c.flow, had: resumecase.Memory{}, cache: &caseCache{}, cached: map[string]bool{}, runs: map[string]*memoryJournal{}}
	if fresh.play(false); !t.Failed() && (c.last.Status != fresh.last.Status || string(c.last.Outputs) != string(fresh.last.Outputs)) {
		c.fail("it ended %s with %s, and a run from the start %s with %s", c.last.Status, c.last.Outputs, fresh.last.Status, fresh.last.Outputs)
	}
}

// caseChain is a chain of runs, each of which goes on from the one before.
type caseChain struct {
	*resumecase.Random
	t      *testing.T
	seed   uint64
	number int
	home   int
	story  []string

	flow *resumecase.Flow
	had  resumecase.Memory
	from *resume.Memory

	// run is what the last run should do, last its end, journal what it has written, and begun how many lines of that before anything
	// was executed. whole tells whether it came to its end.
	run     *resumecase.Run
	last    *event.Event
	journal *memoryJournal
	begun   int
	whole   bool

	mu     sync.Mutex
	ran    map[string]int
	asked  map[string]bool
	cache  *caseCache
	cached map[string]bool
	// runs are the journals at hand, by the ids of their runs.
	runs map[string]*memoryJournal
}

func (c *caseChain) tell(format string, args ...any) {
	c.story = append(c.story, fmt.Sprintf(format, args...))
}

func (c *caseChain) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("case %d (repeat it with -args -case %d): %s\n%s\n%s", c.seed, c.seed, fmt.Sprintf(format, args...), strings.Join(c.story, "\n"), c.flow)
}

// play runs the workflow from where the chain has come. If it stumbles, a step fails that otherwise does not.
func (c *caseChain) play(stumbles bool) {
	c.number++
	c.run, c.ran, c.asked = resumecase.Start(c.flow, c.home, c.had, maps.Clone(c.cached)), map[string]int{}, map[string]bool{}
	stumble := ""
	if places := slices.Sorted(maps.Keys(c.run.Ran)); stumbles && len(places) > 0 {
		at := places[c.IntN(len(places))]
		if n := c.flow.At(at); n.End != resumecase.Bad && !strings.Contains(at, "[") { // else the failure is borne
			stumble = at
			c.tell("%s fails", at)
		}
	}
	config, j := c.config()
	jobs := c.IntN(4) + 1
	c.cache.run = fmt.Sprintf("cache of %d", c.number)
	config.Jobs, config.Memory, config.Cache = jobs, c.from, c.cache
	config.Ask = func(_ context.Context, q engine.Question) (string, string, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked[q.Node] = true
		return "yes", "a person", nil
	}
	config.Execute = func(_ context.Context, a engine.Attempt) engine.Result { return c.execute(a, stumble) }
	config.Reused = func() error {
		c.begun = bytes.Count(j.text.Bytes(), []byte("\n"))
		return nil
	}
	var err error
	if c.last, err = engine.Run(context.Background(), config); err != nil {
		c.fail("run %d: %v", c.number, err)
		return
	}
	c.journal, c.runs[j.run], c.whole = j, j, c.last.Status.Succeeded()
	c.tell("run %d ends %s, with %d jobs; executed: %v", c.number, c.last.Status, jobs, c.ran)
	c.check(stumble != "")
}

// config returns the configuration of a run, with a journal in memory.
func (c *caseChain) config() (engine.Config, *memoryJournal) {
	file, err := workflow.Parse("w.json", c.flow.JSON())
	if err != nil {
		c.t.Fatalf("case %d: %v\n%s", c.seed, err, c.flow)
	}
	report := check.Workflow(file, caseTypes{}, nil)
	if f := report.Fault("w"); f != nil {
		c.t.Fatalf("case %d: %v\n%s", c.seed, f, c.flow)
	}
	config, j := inMemory(c.t, `{"nodes":[{"id":"a","type":"echo"}]}`, time.Now)
	j.run = fmt.Sprintf("r%d", c.number)
	config.RunID, config.Flow, config.Started.Definition = j.run, subOf(report), file.Source
	config.Inputs = map[string]json.RawMessage{"x": rawjson.Quote("x"), "c": rawjson.Quote("none")}
	return config, j
}

// execute is an attempt at a node.
func (c *caseChain) execute(a engine.Attempt, stumble string) engine.Result {
	at := a.Node
	if a.Item >= 0 {
		at += fmt.Sprintf("[%d]", a.Item)
	} else if a.Iteration > 0 {
		at += fmt.Sprintf("#%d", a.Iteration)
	}
	params := gjson.ParseBytes(a.Call.Params)
	text, end := params.Get("text").Str, resumecase.End(params.Get("end").Str)
	value, action := resumecase.Result(a.Type.Name, text, end, params.Get("long").Bool())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran[at]++
	if action == "error" || at == stumble || end == resumecase.Flaky && a.Number == 1 {
		return engine.Result{Action: "error", Fault: fault.New(fault.Execution, "it fails")}
	}
	if n := c.flow.At(a.Node); n.Cache && action == "default" {
		c.cached[n.CacheKey(text)] = true
	}
	outputs := fmt.Sprintf(`{"v":%q,"last":%t}`, value, int64(a.Iteration) >= params.Get("rounds").Int())
	return engine.Result{Action: action, Outputs: json.RawMessage(outputs)}
}

// check compares what the run has done with what it should.
func (c *caseChain) check(stumbled bool) {
	if !stumbled && !c.whole {
		c.fail("run %d ends %s: %v", c.number, c.last.Status, c.last.Error)
		return
	}
	for _, at := range slices.Sorted(maps.Keys(c.ran)) {
		if want := c.run.Ran[at]; c.ran[at] > want && !(stumbled && want > 0) {
			c.fail("run %d: %s was executed %d times, not %d", c.number, at, c.ran[at], want)
			return
		}
	}
	for at := range c.asked {
		if !c.run.Asked[at] {
			c.fail("run %d: it asks about %s", c.number, at)
			return
		}
	}
	if stumbled {
		return
	}
	for at, want := range c.run.Ran {
		if c.ran[at] != want {
			c.fail("run %d: %s was executed %d times, not %d", c.number, at, c.ran[at], want)
			return
		}
	}
	for at, asks := range c.run.Asked {
		if asks && !c.asked[at] {
			c.fail("run %d: it does not ask about %s", c.number, at)
			return
		}
	}
	for id, want := range c.run.Outputs {
		if got := gjson.GetBytes(c.plain(), id).Str; got != want {
			c.fail("run %d: the output %s is %.100q, not %.100q", c.number, id, got, want)
			return
		}
	}
}

// plain returns the outputs of the last run.
func (c *caseChain) plain() []byte {
	plain, err := event.Plain(c.last.Outputs, c.journal.Blob)
	if err != nil {
		c.t.Fatal(err)
	}
	return plain
}

// leave ends the last run at a random event, chooses how to go on, and perhaps changes the workflow.
func (c *caseChain) leave() {
	lines := slices.Collect(bytes.Lines(c.journal.text.Bytes()))
	cut := len(lines)
	if !c.Once(3) {
		cut = 1 + c.IntN(len(lines))
	}
	elsewhere := c.Once(3)
	if c.Once(2) {
		var how string
		c.flow, how = c.Change(c.flow)
		c.tell("then another %s", how)
	}
	if cut < c.begun && !elsewhere { // the run before takes its place
		c.tell("run %d is cut before it has begun", c.number)
		return
	}
	c.tell("run %d is cut after %d of %d events, elsewhere: %t", c.number, cut, len(lines), elsewhere)
	text := bytes.Join(lines[:cut], nil)
	c.journal.text.Truncate(len(text)) // the run was killed there
	if elsewhere {
		c.home++
		c.runs = map[string]*memoryJournal{}
	}
	finished, err := resumecase.Finished(text, c.cache.run)
	if err != nil {
		c.t.Fatal(err)
	}
	c.had = c.run.Recall(finished, c.home)
	if c.from, err = resume.Read(bytes.NewReader(text), c.journal.Blob); err != nil {
		c.t.Fatal(err)
	}
	c.from.Earlier = c.earlier
}

// earlier returns the checkpoint of a run that is at hand, or nil.
func (c *caseChain) earlier(run string) *resume.Memory {
	j := c.runs[run]
	if j == nil {
		return nil
	}
	from, err := resume.Read(bytes.NewReader(j.text.Bytes()), j.Blob)
	if err != nil {
		c.t.Fatal(err)
	}
	from.Earlier = c.earlier
	return from
}

// caseTypes are the node types of the cases.
type caseTypes struct{ builtin }

func (caseTypes) Type(name string) (nodetype.Type, bool, error) {
	if name != "one" && name != "two" {
		return builtin{}.Type(name)
	}
	on := map[string]string{"one": nodetype.OnWorld, "two": nodetype.OnValues}[name]
	return nodetype.Type{
		Name: name, DependsOn: on, Actions: []string{"default", "left", "right", "error"},
		Params: []nodetype.Param{
			{Name: "text", Type: "str", Required: true}, {Name: "end", Type: "str"}, {Name: "long", Type: "bool"}, {Name: "rounds", Type: "int"},
			{Name: "inputs", Type: "dict"},
		},
		Outputs: []nodetype.Output{{Name: "v", Type: "str"}, {Name: "last", Type: "bool"}},
	}, true, nil
}

// caseCache is a cache in memory. run is the name that it gives to the run that did something, for the run that reads it.
type caseCache struct {
	kept sync.Map
	run  string
}

func (c *caseCache) Get(key string, _ time.Duration) (json.RawMessage, string, time.Time, bool) {
	outputs, ok := c.kept.Load(key)
	if !ok {
		return nil, "", time.Time{}, false
	}
	return outputs.([]byte), c.run, time.Now(), true
}

func (c *caseCache) Put(key, _ string, outputs json.RawMessage) error {
	c.kept.Store(key, bytes.Clone(outputs))
	return nil
}
