// Pairs compares two builds of the suite on the same work.
//
//	go run ./scripts/bench/pairs --old DIR --new DIR [--pairs 40] [--only REGEXP] [--limit 1.03] [--json]
//
// Each pair runs the old and the new program one right after the other, in random order and in an empty home, so that what
// else the machine does falls on both. A result is the median of the pairs' ratios, new to old, with its 95 % confidence
// interval from order statistics: of wall time, and of processor time (user and system, with the processes that the program
// has waited for). The status is 1 if the interval of a wall time lies above the limit as a whole. On a busy Linux machine
// the intervals are narrow with real-time priority: build it and run it with chrt -f 10.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"text/tabwriter"
)

func main() {
	old := flag.String("old", "", "the `folder` with the old programs")
	after := flag.String("new", "", "the `folder` with the new programs")
	pairs := flag.Int("pairs", 40, "how many pairs to run, at least 6")
	only := flag.String("only", "", "run only the work whose name matches `REGEXP`, such as 'chain|fan'")
	limit := flag.Float64("limit", 1.03, "the largest ratio of wall times")
	asJSON := flag.Bool("json", false, "print one JSON document instead of a table")
	flag.Parse()
	results, err := compare(*old, *after, *pairs, *only)
	if err == nil {
		err = write(os.Stdout, results, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(2)
	}
	if slices.ContainsFunc(results, func(r result) bool { return r.Wall.Low > *limit }) {
		os.Exit(1)
	}
}

// result compares two programs on one work.
type result struct {
	Work  string `json:"work"`
	Pairs int    `json:"pairs"`
	// OldMS and NewMS are medians of wall times.
	OldMS float64  `json:"old_ms"`
	NewMS float64  `json:"new_ms"`
	Wall  interval `json:"wall"`
	CPU   interval `json:"cpu"`
}

func compare(old, after string, pairs int, only string) ([]result, error) {
	if old == "" || after == "" || flag.NArg() > 0 {
		return nil, fmt.Errorf("it takes --old DIR and --new DIR, and no other arguments")
	}
	if pairs < minPairs {
		return nil, fmt.Errorf("--pairs must be at least %d for a confidence interval, got %d", minPairs, pairs)
	}
	pattern, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("--only: %w", err)
	}
	dir, err := os.MkdirTemp("", "pflow-pairs-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var results []result
	for _, w := range works {
		if !pattern.MatchString(w.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "pairs: %s\n", w.name)
		r, err := w.compare(dir, old, after, pairs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		results = append(results, r)
	}
	if results == nil {
		return nil, fmt.Errorf("no work has a name that matches --only %s", only)
	}
	return results, nil
}

func write(out io.Writer, results []result, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(map[string]any{"results": results})
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "work\tpairs\told\tnew\twall new/old\tcpu new/old")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%d\t%.1f ms\t%.1f ms\t%s\t%s\n", r.Work, r.Pairs, r.OldMS, r.NewMS, r.Wall, r.CPU)
	}
	return w.Flush()
}
