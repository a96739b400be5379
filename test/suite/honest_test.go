package suite

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
	"github.com/pflow-suite/pflow/internal/resumecase"
)

// killCase is the only case of TestKilledRunsAreHonest to run, or 0.
var killCase = flag.Uint64("case", 0, "the seed of the only case of TestKilledRunsAreHonest")

// Whatever the workflow, whenever its runner is killed, whatever is changed in one place, and by whatever way it goes on: the outputs are
// those of a run from its start, and what runs and is asked is what the model says.
func TestKilledRunsAreHonest(t *testing.T) {
	brief.Skip(t)
	needs(t, "sha256sum")
	first, last := uint64(1), uint64(200)
	if *killCase != 0 {
		first, last = *killCase, *killCase
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newKilled(t, seed).try()
		})
	}
}

// killedChain is a chain of runs that are killed.
type killedChain struct {
	*place
	*resumecase.Random
	story []string

	flow *resumecase.Flow
	had  resumecase.Memory
	home int
	// point is the run to go on from, done whether that has succeeded, flows the workflows that runs began with.
	point string
	done  bool
	flows map[string]*resumecase.Flow
	// file is the file of events to go on from in another home, checkpoint the checkpoint file that each run of this chain has, or "".
	file, checkpoint string
	// last is the last run, run what it should do, ended whether it has come to its end, outputs its last event. began tells whether the last
	// command has begun it.
	last         string
	run          *resumecase.Run
	ended, began bool
	outputs      string
	// finished are the finished steps in its journal. cached is what stands in the cache, tried are the steps that any run has begun.
	finished, cached, tried map[string]bool
}

func newKilled(t *testing.T, seed uint64) *killedChain {
	r := resumecase.New(seed)
	k := &killedChain{place: newPlace(t), Random: r, flow: r.Flow().Uncached(), had: resumecase.Memory{}, flows: map[string]*resumecase.Flow{}, cached: map[string]bool{}, tried: map[string]bool{}}
	if r.Once(4) {
		k.checkpoint = "checkpoint.ndjson"
	}
	k.setHome()
	return k
}

// caseProgram is a node of these workflows.
const caseProgram = `#!/bin/sh
if [ "$1" = --describe ]; then
	echo '{"interface":{"description":"A node of a case","params":[{"name":"text","type":"str","required":true},{"name":"end","type":"str"},{"name":"long","type":"bool"},{"name":"rounds","type":"int"},{"name":"inputs","type":"dict"}],"outputs":[{"name":"v","type":"str"},{"name":"last","type":"bool"}],"actions":["default","left","right","error"],"depends_on":"WHAT"}}'
	exit
fi
read -r request
text=$(printf %s "$request" | sed 's/.*"text":"\([^"]*\)".*/\1/')
echo "$PFLOW_RUN_ID $PFLOW_NODE_ID${PFLOW_ITEM:+[$PFLOW_ITEM]}${PFLOW_ITERATION:+#$PFLOW_ITERATION} $text" >> ran
case "$request" in *wrong* | *'"end":"bad"'*) exit 1 ;; *'"end":"flaky"'*) [ "$PFLOW_ATTEMPT" -gt 1 ] || exit 1 ;; esac
sum=$(printf 'KIND\n%s' "$text" | sha256sum)
v=${sum%"${sum#??????}"} action=default
case "$request" in *'"end":"fork"'*)
	action=left
	[ $((0x$(printf %s "$sum" | cut -c 7-8) % 2)) = 0 ] || action=right
esac
case "$request" in *'"long":true'*) v=$(yes "$v" | head -n 11000 | tr -d '\n') ;; esac
rounds=$(printf %s "$request" | sed -n 's/.*"rounds":\([0-9]*\).*/\1/p')
last=true
[ "${PFLOW_ITERATION:-9}" -ge "${rounds:-0}" ] || last=false
echo "{\"\$action\":\"$action\",\"v\":\"$v\",\"last\":$last}"
`

// setHome makes another folder the home.
func (k *killedChain) setHome() {
	k.place.home = filepath.Join(k.dir, fmt.Sprintf("home%d", k.home))
	k.env = []string{
		"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HOME=" + k.dir, "PFLOW_HOME=" + k.place.home, "LC_ALL=C",
	}
	k.Cleanup(k.nothingIsLeft)
	for _, kind := range []string{"one", "two"} {
		program := k.write(filepath.Join(filepath.Base(k.place.home), "nodes", "pflow-node-"+kind), strings.NewReplacer("KIND", kind, "WHAT", map[string]string{"one": "world", "two": "values"}[kind]).Replace(caseProgram))
		if err := os.Chmod(program, 0o700); err != nil {
			k.Fatal(err)
		}
	}
	k.must("pflow-sync", "nodes")
}

func (k *killedChain) tell(format string, args ...any) {
	k.story = append(k.story, fmt.Sprintf(format, args...))
}

func (k *killedChain) failf(format string, args ...any) {
	k.Helper()
	k.Fatalf("%s\n%s\n%s", fmt.Sprintf(format, args...), strings.Join(k.story, "\n"), k.flow)
}

func (k *killedChain) try() {
	for range 1 + k.IntN(3) {
		k.play(true)
		k.leave()
	}
	k.play(false)
	got := k.outputs
	k.home, k.point, k.last, k.file, k.checkpoint, k.had, k.cached = 100, "", "", "", "", resumecase.Memory{}, map[string]bool{}
	k.setHome()
	k.play(false)
	if got != k.outputs {
		k.failf("the outputs are %.1000s, and of a run from the start %.1000s", got, k.outputs)
	}
}

// way returns the arguments by which the chain goes on.
func (k *killedChain) way() []string {
	file := []string{"run", "w.json", "--resume"}
	switch {
	case k.checkpoint != "":
		return []string{"run", "w.json", "--checkpoint", k.checkpoint}
	case k.file != "":
		return append(file, k.file)
	case k.point == "":
		return []string{"run", "w.json"}
	}
	journal := filepath.Join(k.place.home, "runs", k.last, "journal.ndjson")
	switch way := k.IntN(6); {
	case way == 0 && !k.done:
		return []string{"resume", k.last}
	case way == 1 && !k.done:
		k.flow = k.flows[k.point]
		k.tell("as it was")
		return []string{"resume", k.last, "--as-it-was"}
	case way == 2:
		return append(file, journal)
	case way == 3:
		return append(file, "-")
	}
	return append(file, k.last)
}

// play starts or resumes the run, and perhaps kills its runner.
func (k *killedChain) play(kills bool) {
	k.write("w.json", string(k.flow.JSON()))
	args := k.way()
	for _, path := range k.flow.Asks() {
		args = append(args, "--auto-approve", path)
	}
	run := resumecase.Start(k.flow, k.home, k.had, maps.Clone(k.cached))
	cmd := k.command("pflow-exec", append(args, "--format", "ndjson")...)
	if slices.Contains(args, "-") {
		cmd.Stdin = strings.NewReader(k.read(filepath.Join(filepath.Base(k.place.home), "runs", k.last, "journal.ndjson")))
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.Fatal(err)
	}
	after := -1
	if kills {
		after = k.IntN(4 + 4*len(run.Ran))
	}
	lines := bufio.NewReader(out)
	begun := ""
	for n := 0; ; n++ {
		if n == after {
			<-time.After(time.Duration(k.IntN(3000)) * time.Microsecond)
			_ = cmd.Process.Kill()
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		if begun == "" {
			begun = gjson.Get(line, "run").Str
		}
		if gjson.Get(line, "event").Str == "run_finished" {
			k.outputs = gjson.Get(line, "status").Str + " " + gjson.Get(line, "outputs").Raw
		}
	}
	err = cmd.Wait()
	exit := (*exec.ExitError)(nil)
	wasKilled := errors.As(err, &exit) && !exit.Exited()
	if begun == "" { // it has perhaps begun
		runs, _ := filepath.Glob(filepath.Join(k.place.home, "runs", "r*", "journal.ndjson"))
		for _, journal := range runs {
			if run := filepath.Base(filepath.Dir(journal)); k.flows[run] == nil {
				begun = run
			}
		}
	}
	k.tell("%q: killed after %d events: %t, run %s", args, after, wasKilled, begun)
	if err != nil && !wasKilled {
		k.failf("%v\n%s", err, stderr.String())
	}
	if k.began = begun != "" && k.flows[begun] == nil; k.began {
		k.last, k.flows[begun], k.run, k.ended = begun, k.flow, run, err == nil || strings.Contains(k.journalOf(begun), `"event":"run_finished"`)
		k.check()
	} else if !wasKilled {
		k.failf("it begins no run\n%s", stderr.String())
	}
}

// check compares what the last run has done with what it should.
func (k *killedChain) check() {
	ran, texts := map[string]int{}, map[string]string{}
	for line := range strings.Lines(k.read("ran")) {
		run, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if at, text, _ := strings.Cut(rest, " "); run == k.last {
			ran[at]++
			texts[at] = text
		}
	}
	finished, err := resumecase.Finished([]byte(k.journalOf(k.last)), "")
	if err != nil {
		k.Fatal(err)
	}
	k.finished = finished
	for at, text := range texts {
		if n := k.flow.At(at); n.Caches(text) && k.finished[at] {
			k.cached[n.CacheKey(text)] = true
		}
	}
	k.tell("executed: %v", ran)
	defer func() {
		for at := range ran {
			k.tried[at] = true
		}
	}()
	for _, at := range slices.Sorted(maps.Keys(ran)) {
		if want := k.run.Ran[at]; ran[at] > want {
			k.failf("%s was executed %d times, not %d", at, ran[at], want)
		}
	}
	asked := map[string]bool{}
	for line := range strings.Lines(k.journalOf(k.last)) {
		if gjson.Get(line, "event").Str == "approval_requested" {
			asked[gjson.Get(line, "node").Str] = true
		}
	}
	for at := range asked {
		if !k.run.Asked[at] {
			k.failf("it asks about %s", at)
		}
	}
	if !k.ended {
		return
	}
	for at, asks := range k.run.Asked {
		if asks && !asked[at] {
			k.failf("it does not ask about %s", at)
		}
	}
	for at, want := range k.run.Ran {
		inCache := ran[at] == 0 && k.tried[at] && k.flow.At(at).Cache // a run was killed between the cache and its journal
		if ran[at] != want && !inCache {
			k.failf("%s was executed %d times, not %d", at, ran[at], want)
		}
	}
}

// journalOf returns the journal of a run.
func (k *killedChain) journalOf(run string) string {
	return k.read(filepath.Join(filepath.Base(k.place.home), "runs", run, "journal.ndjson"))
}

// leave notes what the runs have finished, perhaps takes that to another home, and perhaps changes the workflow.
func (k *killedChain) leave() {
	if k.Once(2) {
		changed, how := k.Change(k.flow)
		k.flow = changed.Uncached()
		k.tell("then another %s", how)
	}
	if !k.began {
		return
	}
	folder := filepath.Join(filepath.Base(k.place.home), "runs", k.last)
	switch {
	case k.checkpoint == "" && k.Once(4):
		k.file = k.write(fmt.Sprintf("events%d", k.home), k.must("pflow-exec", "events", k.last, "--inline"))
		k.tell("elsewhere")
		k.home++
		k.setHome()
		k.had, k.point, k.cached = k.run.Recall(k.finished, k.home), "", map[string]bool{}
	case !k.exists(filepath.Join(folder, "taking_over")): // else the run before takes its place
		k.had, k.point, k.done, k.file = k.run.Recall(k.finished, k.home), k.last, k.ended, ""
	}
}
