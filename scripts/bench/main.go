// Bench measures the suite's programs next to others that do the same, and fails if a limit is missed.
//
//	go run ./scripts/bench [--only REGEXP] [--json]
//
// Programs that are compared run alternately, round by round, so that other load on the machine affects all alike. A time is
// the median of the rounds, a ratio the median of the rounds' ratios. make and ninja take part if they are installed; go-task
// is installed into bin/tools. Progress goes to standard error. The exit status is 1 if a limit is missed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == weigh {
		if err := weighCommand(os.Args[2:]); err != nil {
			fail(err)
		}
		return
	}
	if len(os.Args) > 2 && (os.Args[1] == bareStreams || os.Args[1] == streamsClient) {
		if err := streamsCommand(os.Args[1], os.Args[2]); err != nil {
			fail(err)
		}
		return
	}
	only := flag.String("only", "", "measure only the benchmarks whose name matches `REGEXP`, such as 'fan-out|resume'")
	asJSON := flag.Bool("json", false, "print one JSON document instead of a table")
	flag.Parse()
	if flag.NArg() > 0 {
		fail(fmt.Errorf("unexpected argument %q", flag.Arg(0)))
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		fail(fmt.Errorf("--only: %w", err))
	}
	results, err := measure(pattern)
	if err != nil {
		fail(err)
	}
	if *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{"results": results})
	} else {
		err = table(os.Stdout, results)
	}
	if err != nil {
		fail(err)
	}
	if slices.ContainsFunc(results, func(r result) bool { return !r.OK }) {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(2)
}

// measure measures the benchmarks whose names match, in a temporary folder.
func measure(only *regexp.Regexp) ([]result, error) {
	dir, err := os.MkdirTemp("", "pflow-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{dir: dir, tools: map[string]string{}}
	chosen, err := choose(b.benchmarks(), only)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "bench: building the programs")
	if err := b.build(); err != nil {
		return nil, err
	}
	var results []result
	for i, bm := range chosen {
		fmt.Fprintf(os.Stderr, "bench: %d of %d: %s\n", i+1, len(chosen), bm.name)
		measured, err := bm.measure()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", bm.name, err)
		}
		for _, r := range measured {
			r.Benchmark, r.OK = bm.name, r.Value <= r.Limit
			results = append(results, r)
		}
	}
	return results, nil
}

// choose returns the benchmarks whose names match.
func choose(all []benchmark, only *regexp.Regexp) ([]benchmark, error) {
	var chosen []benchmark
	var names []string
	for _, bm := range all {
		names = append(names, bm.name)
		if only.MatchString(bm.name) {
			chosen = append(chosen, bm)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--only %s matches no benchmark; there are: %s", only, strings.Join(names, "; "))
	}
	return chosen, nil
}
