package suite

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// limited sets runtime.max_runs.
func (p *place) limited(most int) {
	p.Helper()
	p.must("pflow-lib", "settings", "set", "runtime.max_runs", fmt.Sprint(most))
}

// The hints of a limit that cannot be are commands that work.
func TestTheHintsForALimitWork(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	set := regexp.MustCompile(`pflow-lib settings (?:set runtime\.max_runs \d+|unset runtime\.max_runs)`)
	o := p.run("pflow-lib", "settings", "set", "runtime.max_runs", "0")
	hints := gjson.Get(o.stdout, "error.suggestions").Array()
	if o.exit != 2 || len(hints) != 2 {
		t.Fatalf("%s", o)
	}
	for i, want := range []string{"4", ""} {
		p.must("pflow-lib", strings.Fields(set.FindString(hints[i].Str))[1:]...)
		if got := gjson.Get(p.read("home/settings.json"), "runtime.max_runs").Raw; got != want {
			t.Errorf("after %s the limit is %q", hints[i].Str, got)
		}
	}
	o = p.run("pflow-lib", "settings", "set", "runtime.max_run", "3")
	if hint := gjson.Get(o.stdout, "error.suggestions.0").Str; o.exit != 2 || !strings.Contains(hint, "runtime.max_runs") {
		t.Errorf("%s", o)
	}
}

// waitsFor waits until a run has a status.
func (p *place) waitsFor(run, status string) {
	p.Helper()
	p.eventually(run+" is "+status, func() bool { return p.document(p.must("pflow-exec", "status", run))["status"] == status })
}

// ids returns the ids of a list of runs.
func (p *place) ids(args ...string) (ids []string) {
	p.Helper()
	for _, e := range p.events(p.must("pflow-exec", append([]string{"list"}, args...)...)) {
		ids = append(ids, e["run_id"].(string))
	}
	return ids
}

// names returns the events of a run, without those about nodes.
func (p *place) names(run string) (names []string) {
	p.Helper()
	for _, e := range p.events(p.must("pflow-exec", "events", run)) {
		if name := e["event"].(string); strings.HasPrefix(name, "run_") {
			names = append(names, name)
		}
	}
	return names
}

func TestARunOverTheLimitIsQueued(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.limited(1)
	g := p.gate("gate")
	p.write("w.json", gated())
	p.write("short.json", chain("echo short"))
	first := p.started("w.json")
	open := g.reached()
	second, third := p.started("short.json", "--timeout", "600"), p.started("short.json")
	p.waitsFor(second, "queued")
	p.waitsFor(third, "queued")

	if got := p.ids("--status", "queued"); !slices.Equal(got, []string{third, second}) {
		t.Errorf("the list of queued runs has %q", got)
	}
	if got := p.ids("--status", "running"); !slices.Equal(got, []string{first}) {
		t.Errorf("the list of running runs has %q", got)
	}
	for _, line := range []string{"show", "wait --for 0.1", "wait --for 0"} {
		args := strings.Fields(line)
		d := p.document(p.must("pflow-exec", append([]string{args[0], second}, args[1:]...)...))
		if d["status"] != "queued" {
			t.Errorf("%s: %v", line, d)
		}
	}
	if d := p.document(p.must("pflow-exec", "wait", second, "--for", "0")); d["success"] != true || d["next"] == nil {
		t.Errorf("the answer of a queued run is %v", d)
	}
	if page := p.must("pflow-exec", "report", second); !strings.Contains(page, "Queued") {
		t.Error("the report does not name the status")
	}
	if text := p.must("pflow-exec", "events", second, "--format", "text"); !strings.Contains(text, "queued: at most 1 run") {
		t.Errorf("as text: %q", text)
	}

	if d := p.document(p.must("pflow-exec", "cancel", third)); d["status"] != "cancelled" {
		t.Errorf("cancelled while it waits: %v", d)
	}
	open()
	p.waitsFor(second, "completed")
	if got := p.names(second); !slices.Equal(got, []string{"run_started", "run_queued", "run_admitted", "run_finished"}) {
		t.Errorf("a queued run has the events %q", got)
	}
	if got := p.names(third); !slices.Equal(got, []string{"run_started", "run_queued", "run_finished"}) {
		t.Errorf("a run that was cancelled while it was queued has the events %q", got)
	}
	if got := p.names(first); !slices.Equal(got, []string{"run_started", "run_finished"}) {
		t.Errorf("a run that did not wait has the events %q", got)
	}
	p.waitsFor(first, "completed")
	if d := p.document(p.must("pflow-exec", "resume", third, "--format", "json")); d["status"] != "completed" {
		t.Errorf("the cancelled run resumed: %v", d)
	}
}

func TestAPlaceIsGivenBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.limited(1)
	p.write("w.json", gated())
	p.write("short.json", chain("echo short"))
	p.write("ask.json", `{"nodes":[{"id":"n","type":"echo","approval":{"question":"Well?"}}]}`)
	g := p.gate("gate")

	killed := p.started("w.json")
	_ = g.reached()
	queued := p.started("short.json")
	p.waitsFor(queued, "queued")
	var runner int
	for pid, command := range processes("PFLOW_HOME=" + p.home) {
		if strings.Contains(command, "pflow-exec detached") && fmt.Sprintln(pid) == p.read("home/runs/"+killed+"/lock") {
			runner = pid
		}
	}
	if err := syscall.Kill(runner, syscall.SIGKILL); runner == 0 || err != nil {
		t.Fatal(runner, err)
	}
	p.waitsFor(queued, "completed")

	paused := p.run("pflow-exec", "run", "ask.json", "--format", "json")
	if d := p.document(paused.stdout); d["status"] != "paused" {
		t.Fatal(paused)
	}
	p.must("pflow-exec", "run", "short.json")
	g.left()
	resumed := p.started("w.json", "--resume", killed)
	_ = g.reached()
	again := p.command("pflow-exec", "resume", "last") // attaches to the live run, and needs no place
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	answered := p.started("ask.json", "--resume", p.document(paused.stdout)["run_id"].(string), "--approve", "yes")
	p.waitsFor(answered, "queued")
	// A second request for the same goes to the run that waits.
	if twice := p.started("ask.json", "--resume", p.document(paused.stdout)["run_id"].(string), "--approve", "yes"); twice != answered {
		t.Errorf("resumed twice: %s and %s", answered, twice)
	}
	p.limited(2) // counts for a run that waits
	p.waitsFor(answered, "completed")
	p.must("pflow-exec", "cancel", resumed)
	_ = again.Wait()
}

// A run that a node starts is a part of the node's run.
func TestARunInsideANodeNeedsNoPlace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.limited(1)
	p.write("inner.json", chain("echo inner"))
	p.write("sub.json", `{"nodes":[{"id":"in","type":"workflow","params":{"workflow":"inner.json"}}]}`)
	p.write("outer.json", chain("pflow-exec run sub.json --format json"))
	if d := p.document(p.must("pflow-exec", "run", "outer.json", "--timeout", "120", "--format", "json")); d["status"] != "completed" {
		t.Errorf("%v", d)
	}
}

// The time limit of a run begins when it begins.
func TestAQueuedRunHasItsWholeTime(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.limited(1)
	g := p.gate("gate")
	p.write("w.json", gated())
	p.write("long.json", chain("exec sleep 1000"))
	p.started("w.json")
	open := g.reached()
	const limit = time.Second
	queued := p.started("long.json", "--timeout", limit.String())
	p.waitsFor(queued, "queued")
	waited := time.Now()
	p.eventually("twice the limit has passed", func() bool { return time.Since(waited) > 2*limit })
	if d := p.document(p.must("pflow-exec", "status", queued)); d["status"] != "queued" {
		t.Errorf("after %s it is %v, want queued", time.Since(waited), d["status"])
	}
	open()
	p.waitsFor(queued, "timed_out")
	var admitted, finished time.Time
	events := p.must("pflow-exec", "events", queued)
	for _, e := range p.events(events) {
		at, err := time.Parse(time.RFC3339Nano, e["time"].(string))
		if err != nil {
			t.Fatal(err)
		}
		switch e["event"] {
		case "run_admitted":
			admitted = at
		case "run_finished":
			finished = at
		}
	}
	if had := finished.Sub(admitted); had < limit {
		t.Errorf("it had %s, want its whole %s", had, limit)
	}
	if lasted := time.Duration(p.last(events)["duration_ms"].(float64)) * time.Millisecond; lasted > finished.Sub(admitted)+limit {
		t.Errorf("the duration of %s includes the wait: it was admitted %s before its end", lasted, finished.Sub(admitted))
	}
}

// Of runs that many processes start, and some of which are killed, never more than the limit are executed.
func TestNoMoreRunsThanTheLimit(t *testing.T) {
	t.Parallel()
	const runs, most = 24, 3
	p := newPlace(t)
	p.limited(most)
	p.write("w.json", chain("sleep 0.05"))
	rng := rand.New(rand.NewPCG(1, 2))
	var cmds []*exec.Cmd
	for range runs {
		cmd := p.command("pflow-exec", "run", "w.json", "--quiet")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	p.eventually("some runs have begun", func() bool { return len(p.journals()) > runs/2 })
	for range runs / 4 {
		_ = cmds[rng.IntN(runs)].Process.Kill()
	}
	for _, cmd := range cmds {
		_ = cmd.Wait()
	}
	if got := p.mostAtOnce(); got > most {
		t.Errorf("%d runs were executed at the same time, want at most %d", got, most)
	}
	for _, path := range p.journals() {
		status := p.document(p.must("pflow-exec", "status", filepath.Base(filepath.Dir(path))))["status"]
		if status != "completed" && status != "interrupted" {
			t.Errorf("a run has ended as %v", status)
		}
	}
}

// mostAtOnce returns the highest number of runs that were executed at the same time: from the first to the last event about
// a node.
func (p *place) mostAtOnce() (most int) {
	type change struct {
		at   time.Time
		more int
	}
	var changes []change
	for _, path := range p.journals() {
		var times []time.Time
		rel, _ := filepath.Rel(p.dir, path)
		for line := range strings.Lines(p.read(rel)) {
			var at time.Time
			if gjson.Get(line, "node").Exists() && json.Unmarshal([]byte(gjson.Get(line, "time").Raw), &at) == nil {
				times = append(times, at)
			}
		}
		if len(times) > 0 {
			changes = append(changes, change{times[0], 1}, change{times[len(times)-1], -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		if order := a.at.Compare(b.at); order != 0 {
			return order
		}
		return a.more - b.more
	})
	now := 0
	for _, c := range changes {
		now += c.more
		most = max(most, now)
	}
	return most
}
