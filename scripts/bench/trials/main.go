// Trials interrupts runs and resumes them, and fails if anything is lost or done twice. It also hides secrets, and fails if one is found.
//
//	go run ./scripts/bench/trials [--kill 500] [--full 50] [--watch 5] [--limited 5] [--runners 10] [--cluster 2] [--tasks 10] [--shares 10] [--canaries 1] [--place REGEXP] [--seed N] [--json]
//
// In a kill trial the runner of a workflow is killed with kill -9 at a random moment, and so are some of the runners that resume
// the run, or the programs of a loop that supervises it (pflow-exec run --checkpoint). No node that had finished may run again, what
// the killed runners left must end with the next one, each run must go on to its end, and a node that runs more than once must have
// the same PFLOW_NODE_KEY each time. In a full trial the home is full, read-only or limited from a random moment on, and later writable again. Every
// node writes a line to a file, which is compared with the journals at the end. In a watch trial 100 runs go on beside pflow-exec
// watch; runners and the watch are killed at random moments, and in the end each journal has come whole.
//
// In a limited trial the setting runtime.max_runs is 3, and 200 runs are begun by 8 processes at a time, some of which are killed. Never
// may more than 3 of them be executed at the same time, and all others must end. In a trial of runners the nodes of 20 runs are executed
// by a runner, and a process of each run is killed, on this side or the other: every node must end once, and nothing may be left.
//
// In a cluster trial two workers of a Temporal server execute a batch through a runner, and a whole run, while workers, the server and the
// commands that send the work are killed. Everything must end; what had finished, as far as the cluster knew, or at all if there is a shared
// folder, must not run again, all else at most once more for each kill. The trials need Temporal's program in $CASE_TEMPORAL, which scripts/test --all installs.
//
// In a task trial pflow-serve is killed 30 times at random moments and started again, while a client that takes MCP tasks starts runs,
// polls, cancels and answers them. Each call must have one task with one run, and each state that a server shows must be true.
//
// In a share trial pflow-share is asked for 300 runs of shared workflows, 6 at a time; it and the processes that it starts are killed at
// random moments. In the end each run must have one job, and each job must be counted once. In an admit trial 2,000 processes count
// runs, 16 at a time, and no limit may be exceeded.
//
// In each of the other trials, named by a place where secrets are written, 20 random secrets are put there. A workflow puts them out in
// many forms while it is killed, fails and is resumed. Then every command shows the run, and the home and all output are searched.
//
// The folder of a failed trial is kept. Its seed, with --kill 1, --full 1, --watch 1, --limited 1, --runners 1, --cluster 1, --tasks 1 or --shares 1, gives the same workflow and the same moments again. The exit status is 1 if a trial failed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"text/tabwriter"
)

func main() {
	if len(os.Args) >= 2 && os.Args[1] == serverMode {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, "trials:", err)
			os.Exit(1)
		}
		return
	}
	r := &rig{temporal: os.Getenv("CASE_TEMPORAL")}
	if _, err := exec.LookPath("setsid"); err == nil {
		r.setsid = "setsid"
	}
	if _, err := os.Stat("/proc/self/task"); err == nil {
		r.children = true
	}
	kills := flag.Int("kill", 500, "the number of kill trials")
	full := flag.Int("full", 50, "the number of trials with a home that is full or cannot be written")
	streams := flag.Int("watch", 5, "the number of trials of pflow-exec watch beside 100 runs")
	limited := flag.Int("limited", 5, "the number of trials of 200 runs with runtime.max_runs")
	runners := flag.Int("runners", 10, "the number of trials of 20 runs whose nodes have a runner, each with a kill, and a secret")
	clusters := flag.Int("cluster", 2, "the number of trials with a Temporal server, with up to 4 kills each")
	tasks := flag.Int("tasks", 10, "the number of trials of MCP tasks, each with 30 kills of the server")
	shares := flag.Int("shares", 10, "the number of trials of pflow-share with kills, and a tenth as many with 2,000 processes")
	secrets := flag.Int("canaries", 1, "how often secrets are hidden in each place and searched for")
	flag.StringVar(&r.only, "place", "", "hide secrets only in the places whose name matches this regular expression")
	seed := flag.Uint64("seed", 0, "the seed of the first trial; each of the others has the next number (0: random)")
	asJSON := flag.Bool("json", false, "print one JSON document instead of a table")
	flag.StringVar(&r.programs, "programs", "", "the folder of the programs (default: build them)")
	flag.BoolVar(&r.mounts, "mounts", false, "internal: this process may mount file systems, because it has its own mount namespace")
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64N(1_000_000_000)
	}
	var status int
	var err error
	var inside []string
	if *full > 0 && !r.mounts {
		inside = mountNamespace()
	}
	if inside != nil {
		status, err = again(inside, "--mounts")
	} else {
		status, err = r.all(*kills, *full, *streams, *limited, *runners, *clusters, *tasks, *shares, *secrets, *seed, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "trials:", err)
		status = 2
	}
	os.Exit(status)
}

// rig has what the trials share.
type rig struct {
	dir, programs string
	// only is a regular expression for the names of the places that secrets are hidden in.
	only string
	// mounts is true if file systems may be mounted, children if the system shows the children of a process.
	mounts, children bool
	// setsid is the command that starts a program in a session of its own, or "" if the system has none.
	setsid string
	// temporal is Temporal's program, or empty.
	temporal string
	// echo is an HTTP server that answers with what it is asked.
	echo *httptest.Server
}

func (r *rig) program(name string) string { return filepath.Join(r.programs, name) }

// result is the result of all trials of one kind.
type result struct {
	Kind   string `json:"kind"`
	Trials int    `json:"trials"`
	counts
	Strays   int       `json:"strays"` // temporary files that killed runners left among the runs
	Skipped  string    `json:"skipped,omitempty"`
	Failures []failure `json:"failures"`
}

func newResult(kind, skipped string) *result {
	return &result{Kind: kind, Skipped: skipped, Failures: []failure{}}
}

// failure is a trial that failed.
type failure struct {
	Seed   uint64   `json:"seed"`
	Folder string   `json:"folder"`
	Wrong  []string `json:"wrong"`
	Calls  []string `json:"calls"`
}

// all runs the trials, prints the results and returns the exit status.
func (r *rig) all(kills, full, streams, limited, runners, clusters, tasks, shares, secrets int, seed uint64, asJSON bool) (status int, err error) {
	if r.dir, err = os.MkdirTemp("", "pflow-trials-"); err != nil {
		return 2, err
	}
	if err := os.Chmod(r.dir, 0o755); err != nil { // another user runs the programs in some trials
		return 2, err
	}
	if r.programs == "" {
		r.programs = filepath.Join(r.dir, "bin")
		if out, err := exec.Command("go", "build", "-o", r.programs+"/", "github.com/pflow-suite/pflow/cmd/...").CombinedOutput(); err != nil {
			return 2, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	r.echo = httptest.NewServer(http.HandlerFunc(echo))
	defer r.echo.Close()
	results, trials := r.draw(kills, full, seed)
	if streams > 0 {
		watched := newResult("watch", "")
		results = append(results, watched)
		for i := range streams {
			trials = append(trials, func() error { return r.try(watched, seed+uint64(i), (*trial).watch) })
		}
	}
	if runners > 0 && r.children {
		res := newResult("runners", "")
		results = append(results, res)
		for i := range runners {
			trials = append(trials, func() error { return r.try(res, seed+uint64(i), (*trial).runners) })
		}
	}
	if clusters > 0 {
		res := newResult("cluster", "")
		results = append(results, res)
		if r.temporal == "" {
			res.Skipped, clusters = "skipped: CASE_TEMPORAL does not name Temporal's program", 0
		}
		for i := range clusters {
			trials = append(trials, func() error { return r.try(res, seed+uint64(i), (*trial).cluster) })
		}
	}
	if limited > 0 {
		res := newResult("limited", "")
		results = append(results, res)
		for i := range limited {
			trials = append(trials, func() error { return r.try(res, seed+uint64(i), (*trial).limited) })
		}
	}
	if tasks > 0 {
		res := newResult("tasks", "")
		results = append(results, res)
		for i := range tasks {
			trials = append(trials, func() error { return r.try(res, seed+uint64(i), (*trial).tasks) })
		}
	}
	if shares > 0 {
		killed, admitted := newResult("share", ""), newResult("admit", "")
		results = append(results, killed, admitted)
		for i := range shares {
			trials = append(trials, func() error { return r.try(killed, seed+uint64(i), (*trial).share) })
			if i%10 == 0 {
				trials = append(trials, func() error { return r.try(admitted, seed+uint64(i), (*trial).admit) })
			}
		}
	}
	only, err := regexp.Compile(r.only)
	if err != nil {
		return 2, err
	}
	for i, p := range places {
		if secrets == 0 || !only.MatchString(p.name) {
			continue
		}
		res := newResult(p.name, "")
		results = append(results, res)
		for n := range secrets {
			trials = append(trials, func() error {
				return r.try(res, seed+uint64(n*len(places)+i), func(t *trial) error { return t.hide(p) })
			})
		}
	}
	if err := atOnce(2, trials); err != nil {
		return 2, err
	}
	failed := false
	for _, res := range results {
		failed = failed || len(res.Failures) > 0
	}
	if failed {
		status = 1
	} else {
		_ = os.RemoveAll(r.dir)
	}
	if asJSON {
		return status, json.NewEncoder(os.Stdout).Encode(object{"seed": seed, "results": results})
	}
	return status, table(os.Stdout, seed, results)
}

// draw returns the trials, and the results to which they add.
func (r *rig) draw(kills, full int, seed uint64) (results []*result, trials []func() error) {
	add := func(to *result, i int, run func(*trial) error) {
		trials = append(trials, func() error { return r.try(to, seed+uint64(i), run) })
	}
	killed, supervised := newResult("kill", ""), newResult("supervisor", "")
	if kills > 0 {
		results = append(results, killed, supervised)
	}
	for i := range kills {
		switch {
		case !r.children:
			supervised.Skipped = "skipped: the system does not show the children of a process"
			add(killed, i, (*trial).kill)
		case (seed+uint64(i))%4 == 0:
			add(supervised, i, (*trial).supervise)
		default:
			add(killed, i, (*trial).kill)
		}
	}
	if full == 0 {
		return results, trials
	}
	conditions, skipped := r.conditions()
	of := make([]*result, len(conditions))
	for i, c := range conditions {
		of[i] = newResult(c.name, "")
	}
	for i := range full {
		which := (seed + uint64(i)) % uint64(len(conditions))
		add(of[which], i, conditions[which].try)
	}
	return slices.Concat(results, of, skipped), trials
}

// tally protects the results.
var tally sync.Mutex

// try runs one trial and adds it to a result.
func (r *rig) try(to *result, seed uint64, run func(*trial) error) error {
	t, err := newTrial(r, to.Kind, seed)
	if err != nil {
		return err
	}
	if err := run(t); err != nil {
		return fmt.Errorf("trial %d in %s: %w", seed, t.dir, err)
	}
	tally.Lock()
	defer tally.Unlock()
	to.Trials++
	to.add(t.counts)
	to.Strays += len(t.strays())
	if len(t.wrong) == 0 {
		return os.RemoveAll(t.dir)
	}
	f := failure{Seed: seed, Folder: t.dir, Wrong: t.wrong}
	for _, c := range t.calls {
		f.Calls = append(f.Calls, fmt.Sprintf("%s: %s, created %q", c, c.end(), c.run))
	}
	to.Failures = append(to.Failures, f)
	return nil
}

// atOnce runs the functions, n at a time. It returns the first error, after which it starts no other.
func atOnce(n int, all []func() error) error {
	var mu sync.Mutex
	var first error
	next := func() func() error {
		mu.Lock()
		defer mu.Unlock()
		if len(all) == 0 || first != nil {
			return nil
		}
		f := all[0]
		all = all[1:]
		return f
	}
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			for f := next(); f != nil; f = next() {
				if err := f(); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return first
}

// most is the number of problems of a trial that the table shows.
const most = 10

func table(out io.Writer, seed uint64, results []*result) error {
	fmt.Fprintf(out, "seed %d\n", seed)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kind\ttrials\tkills\tresumes\trepeated\tstuck\torphans\tleft\tkeys\tchanged\tfound\tstrays\tfailures\t")
	for _, r := range results {
		for _, n := range []any{r.Kind, r.Trials, r.Kills, r.Resumes, r.Repeated, r.Stuck, r.Orphans, r.Left, r.Keys, r.Changed, r.Found, r.Strays, len(r.Failures)} {
			fmt.Fprintf(w, "%v\t", n)
		}
		fmt.Fprintln(w, r.Skipped)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		for _, f := range r.Failures {
			fmt.Fprintf(out, "\n%s, seed %d, in %s:\n", r.Kind, f.Seed, f.Folder)
			for _, w := range slices.Concat(f.Calls, f.Wrong[:min(len(f.Wrong), most)]) {
				fmt.Fprintf(out, "  %s\n", w)
			}
			if more := len(f.Wrong) - most; more > 0 {
				fmt.Fprintf(out, "  and %d more\n", more)
			}
		}
	}
	return nil
}
