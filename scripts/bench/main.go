// Bench measures the suite's programs next to others that do the same, and fails if a limit is missed.
//
//	go run ./scripts/bench [--only REGEXP] [--rounds N] [--json]
//	go run ./scripts/bench --old DIR --new DIR [--limit 1.03] [--only REGEXP] [--rounds 40] [--json]
//
// The table of the work begins in table.go. The sides of a row run in turn, round by round, in random order and after a round that does not
// count, so that other load on the machine falls on all alike. Figures are medians, with their 95 % confidence intervals. What needs something
// that is missing is skipped; only go-task is installed, into bin/tools.
//
// The second form compares two builds of the suite by the same work, with the ratios of wall and processor time. Never run it with real-time
// priority: threads of Go programs that wait for each other then keep all else from running.
//
// The status is 1 if a limit is missed, by a median or, between two builds, by a whole interval.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
)

// bench has the flags, and what all rows share.
type bench struct {
	only, old, new string
	rounds         int
	limit          float64
	root, dir      string // the folder in which bench is started, the repository, and a temporary one
	self           string // the path of this program
}

// roles are what this program is in a process of its own, by its first argument.
var roles = map[string]func(args []string){"meter": meter, "streams-server": serveStreams, "streams-client": holdStreams}

func main() {
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		roles[os.Args[1]](os.Args[2:])
		return
	}
	b := &bench{root: must(os.Getwd()), self: must(os.Executable())}
	flag.StringVar(&b.only, "only", "", "measure only the rows whose name matches `REGEXP`, such as 'fan-out|resume'")
	flag.IntVar(&b.rounds, "rounds", 0, "run `N` rounds instead of each row's own number; what is measured once stays so")
	flag.StringVar(&b.old, "old", "", "compare the programs in the `folder` with those of --new")
	flag.StringVar(&b.new, "new", "", "compare the programs in the `folder` with those of --old")
	flag.Float64Var(&b.limit, "limit", 1.03, "the largest `ratio` of new to old times")
	asJSON := flag.Bool("json", false, "print one JSON document instead of a table")
	if flag.Parse(); b.old+b.new != "" {
		b.only, b.rounds = cmp.Or(b.only, `^(one node|(chain|fan-out) of 100|check of a chain of 10,000)$`), cmp.Or(b.rounds, 40)
	}
	if flag.NArg() > 0 || b.rounds < 0 || (b.old == "") != (b.new == "") || b.old != "" && b.rounds < 6 {
		check(errors.New("it takes no arguments, and --old only with --new and at least 6 --rounds"))
	}
	b.dir = must(os.MkdirTemp("", "pflow-bench-"))
	ends = append(ends, func() { _ = os.RemoveAll(b.dir) })
	only, names, results := must(regexp.Compile(b.only)), []string{}, []result{}
	for _, r := range table() {
		if names = append(names, r.name); only.MatchString(r.name) {
			fmt.Fprintln(os.Stderr, "bench:", r.name)
			results = append(results, b.measure(r)...)
		}
	}
	if len(results) == 0 {
		check(fmt.Errorf("--only %s matches no row; there are: %s", only, strings.Join(names, "; ")))
	}
	if *asJSON {
		check(json.NewEncoder(os.Stdout).Encode(map[string]any{"results": results}))
	} else {
		show(results)
	}
	undo(0)
	if slices.ContainsFunc(results, func(r result) bool { return r.Verdict == "MISSED" }) {
		os.Exit(1)
	}
}

// show prints the results for people.
func show(results []result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "row\tside\tlimit\tmeasured\tverdict\tfigures")
	for _, r := range results {
		measured, figures := "", []string{}
		if m := r.Measured; m != nil {
			measured = fmt.Sprintf("%s (%s to %s)", number(m[0]), number(m[1]), number(m[2]))
		}
		for _, name := range slices.Sorted(maps.Keys(r.Figures)) {
			figures = append(figures, name+" "+number(r.Figures[name][0]))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Row, r.Side, r.Limit, measured, r.Verdict, strings.Join(figures, ", "))
	}
	check(w.Flush())
}

// number returns three digits.
func number(v float64) string {
	return strconv.FormatFloat(must(strconv.ParseFloat(fmt.Sprintf("%.3g", v), 64)), 'f', -1, 64)
}

// ends are what has to be done at the end, the last first.
var ends []func()

// undo does what has to be done at the end, except the first n.
func undo(n int) {
	for ; len(ends) > n; ends = ends[:len(ends)-1] {
		ends[len(ends)-1]()
	}
}

var failing sync.Mutex // is kept by the first that fails

// check ends the program if there is an error.
func check(err error) {
	if err != nil {
		failing.Lock()
		undo(0)
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}
