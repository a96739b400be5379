// Trials interrupts runs and servers at random moments and lets them go on. It fails if anything is lost, done twice, left behind, or
// shown that is secret.
//
//	go run ./scripts/bench/trials [--only REGEXP] [--trials N] [--seed N] [--json] [--programs DIR]
//
// A trial has a home of its own. Its nodes write marks: lines with the run, the node and its key. At the end they are compared with the
// journals. Nothing that had finished may have run again, each run must have gone on to its end, and whatever ran more than once must
// have had the same PFLOW_NODE_KEY each time. What the killed processes had started must have ended with the next program. Secrets that the
// nodes get and print must be in no output and no file of the home. These are the kinds of trials, --only selects some:
//
//   - kill: the runner of a workflow is killed with kill -9 at random moments, and so are some of those that resume the run.
//   - supervisor: so are the programs of a loop that supervises the run, pflow-exec run --checkpoint.
//   - runner: the nodes are executed by a runner, and any process is killed, on this side or the other.
//   - cluster: two workers of a Temporal server execute the nodes of a run through a runner, and a whole run, while workers, the server and
//     the commands that send the work are killed. It needs Temporal's program in $CASE_TEMPORAL, which scripts/test --all installs.
//   - share: pflow-share, and what it starts, is killed while it is asked for 300 runs. Each must have one job and be counted once.
//   - tasks: pflow-serve is killed 30 times while a client that takes MCP tasks starts runs, polls, cancels and answers them. Each call must
//     have one task with one run, and each state that a server shows must be true.
//   - home: the home is full, read-only or limited from a random moment on, and later writable again.
//
// The folder of a failed trial is kept. Its kind and seed with --trials 1 give the same workflow and the same moments again. The exit
// status is 1 if a trial failed.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
)

// kind is a kind of trials: how many there are without --trials, and what of these the system must have.
type kind struct {
	name   string
	trials int
	run    func(*trial)
	needs  string
}

const (
	processList = "the system does not show processes"
	mounting    = "mounting needs root"
	otherUser   = "root needs setpriv, and a folder that other users can enter"
	temporal    = "CASE_TEMPORAL does not name Temporal's program"
)

func kinds() []kind {
	all := []kind{
		{"kill", 300, (*trial).kill, ""}, {"supervisor", 100, (*trial).supervise, ""}, {"runner", 100, (*trial).runner, processList},
		{"cluster", 3, (*trial).cluster, temporal}, {"share", 10, (*trial).share, processList}, {"tasks", 10, (*trial).tasks, ""},
	}
	for _, c := range conditions {
		all = append(all, kind{"home: " + c.name, 10, func(t *trial) { t.suffer(c) }, c.needs})
	}
	return all
}

// columns are what is counted: keys is what ran more than once, changed what then had another key, found secrets where they must not be.
var columns = []string{"kills", "resumes", "repeated", "stuck", "left", "keys", "changed", "found"}

// result is the result of all trials of a kind.
type result struct {
	Kind     string         `json:"kind"`
	Trials   int            `json:"trials"`
	Counts   map[string]int `json:"counts"`
	Skipped  string         `json:"skipped,omitempty"`
	Failures []string       `json:"failures"`
}

func main() {
	only := flag.String("only", "", "try only the kinds whose names match this regular expression")
	trials := flag.Int("trials", 0, "the number of trials of each kind (0: as many as it is worth)")
	first := flag.Uint64("seed", 0, "the seed of the first trial of each kind; the others have the next numbers (0: random)")
	asJSON := flag.Bool("json", false, "print one JSON document instead of a table")
	programs := flag.String("programs", "", "the folder of the programs (default: build them)")
	flag.Parse()
	seed := cmp.Or(*first, rand.Uint64N(1_000_000_000))
	all := slices.DeleteFunc(kinds(), func(k kind) bool { return !regexp.MustCompile(*only).MatchString(k.name) })
	mounts := os.Getenv("TRIALS_MAY_MOUNT") != "" // then this process has a mount namespace of its own, so that no mount outlives it
	enter := []string{"unshare", "--mount", "--propagation", "private", "--"}
	if !mounts && slices.ContainsFunc(all, func(k kind) bool { return k.needs == mounting }) &&
		command(append(enter, "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt && touch /mnt/a")...) == nil {
		line := slices.Concat(enter, []string{got(os.Executable())}, os.Args[1:])
		must(syscall.Exec(got(exec.LookPath(enter[0])), line, append(os.Environ(), "TRIALS_MAY_MOUNT=1")))
	}
	dir := got(os.MkdirTemp("", "pflow-trials-"))
	must(os.Chmod(dir, 0o755)) // another user runs the programs in some trials
	if *programs == "" {
		*programs = filepath.Join(dir, "bin")
		build := exec.Command("go", "build", "-o", *programs+"/", "github.com/pflow-suite/pflow/cmd/...")
		build.Stderr = os.Stderr
		must(build.Run())
	}
	lacks := map[string]bool{
		temporal: os.Getenv("CASE_TEMPORAL") == "", mounting: !mounts, processList: read("/proc/self/cmdline") == "",
		otherUser: os.Getuid() == 0 && command(append(asNobody, "sh", "-c", `test -x "$0" && cd "$1"`, filepath.Join(*programs, "pflow-exec"), dir)...) != nil,
	}
	var results []*result
	var tally sync.Mutex
	var workers sync.WaitGroup
	slots, failed := make(chan bool, 2), len(all) == 0
	for _, k := range all {
		res := &result{Kind: k.name, Counts: map[string]int{}, Failures: []string{}}
		if results = append(results, res); lacks[k.needs] {
			res.Skipped = "skipped: " + k.needs
			continue
		}
		for i := range cmp.Or(*trials, k.trials) {
			slots <- true
			workers.Go(func() {
				t := newTrial(dir, *programs, k.name, seed+uint64(i))
				t.try(k.run)
				tally.Lock()
				defer tally.Unlock()
				res.Trials++
				for _, column := range columns {
					res.Counts[column] += t.count[column]
				}
				if len(t.wrong) > 0 {
					res.Failures = append(res.Failures, fmt.Sprintf("seed %d in %s: %d problems\n  %s", t.seed, t.dir, len(t.wrong), strings.Join(t.wrong[:min(len(t.wrong), 10)], "\n  ")))
					failed = true
				} else {
					_ = os.RemoveAll(t.dir)
				}
				<-slots
			})
		}
	}
	workers.Wait()
	if *asJSON {
		must(json.NewEncoder(os.Stdout).Encode(object{"seed": seed, "results": results}))
	} else {
		table(seed, results)
	}
	if failed {
		os.Exit(1)
	}
	must(os.RemoveAll(dir))
}

// try makes the trial. That its own work fails is a problem too.
func (t *trial) try(run func(*trial)) {
	defer func() {
		p := recover()
		t.check(p == nil, "", "the trial itself: %v\n%s", p, debug.Stack())
		for _, c := range t.calls {
			_ = c.process.Kill() // it has ended, unless the trial failed
		}
	}()
	run(t)
}

func table(seed uint64, results []*result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "seed %d\nkind\ttrials\t%s\tfailures\t\n", seed, strings.Join(columns, "\t"))
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%d", r.Kind, r.Trials)
		for _, column := range columns {
			fmt.Fprintf(w, "\t%d", r.Counts[column])
		}
		fmt.Fprintf(w, "\t%d\t%s\n", len(r.Failures), r.Skipped)
	}
	must(w.Flush())
	for _, r := range results {
		for _, failure := range r.Failures {
			fmt.Printf("\n%s, %s\n", r.Kind, failure)
		}
	}
}
