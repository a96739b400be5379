// Bench measures the suite's programs side by side with what they are compared to, and fails if one is too slow.
//
//	go run ./scripts/bench [--json]
//
// All that is compared runs in turn, round by round, so that what else the machine does falls on both alike. A ratio is
// the median of the rounds' ratios. The status is 1 when a limit is missed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

func main() {
	asJSON := flag.Bool("json", false, "print one JSON document instead of a table")
	flag.Parse()
	results, err := measureAll()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{"results": results})
	} else {
		err = table(os.Stdout, results)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	for _, r := range results {
		if !r.OK {
			os.Exit(1)
		}
	}
}

// measureAll builds the programs and measures every benchmark in a folder that is gone afterwards, and then how fast
// fields are read.
func measureAll() ([]result, error) {
	dir, err := os.MkdirTemp("", "pflow-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b, err := newBench(dir)
	if err != nil {
		return nil, err
	}
	var results []result
	for _, bm := range b.benchmarks() {
		measured, err := measure(bm)
		if err != nil {
			return nil, err
		}
		results = append(results, measured...)
	}
	fields, err := measureFields()
	return append(results, fields...), err
}

func table(out io.Writer, results []result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tsubject\tmedian\tagainst\tmedian\tratio\tlimit\tN\t")
	for _, r := range results {
		verdict := "ok"
		if !r.OK {
			verdict = "MISSED"
		}
		limit := fmt.Sprintf("%.1f", r.Limit)
		if r.LimitMS > 0 {
			limit = fmt.Sprintf("%.0f ms", r.LimitMS)
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f ms\t%s\t%.2f ms\t%.2f\t%s\t%d\t%s\n",
			r.Benchmark, r.Subject, r.MedianMS, r.Baseline, r.BaselineMS, r.Ratio, limit, r.Rounds, verdict)
	}
	return w.Flush()
}
