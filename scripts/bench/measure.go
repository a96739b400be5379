package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// benchmark compares commands with one baseline.
type benchmark struct {
	name     string
	rounds   int
	limit    float64 // the largest ratio allowed; 0 is none
	limitMS  float64 // the longest median allowed; 0 is none
	baseline command
	subjects []command
}

// command is run once a round, with nothing on stdin and its output thrown away.
type command struct {
	name string
	args []string
	home bool // it gets a new PFLOW_HOME each time
}

// result is what one subject's comparison came to.
type result struct {
	Benchmark  string  `json:"benchmark"`
	Subject    string  `json:"subject"`
	Baseline   string  `json:"baseline"`
	Rounds     int     `json:"rounds"`
	MedianMS   float64 `json:"median_ms"`
	BaselineMS float64 `json:"baseline_median_ms"`
	Ratio      float64 `json:"ratio"`
	Limit      float64 `json:"limit,omitempty"`
	LimitMS    float64 `json:"limit_ms,omitempty"`
	OK         bool    `json:"ok"`
}

// measure runs a benchmark's commands in turn, round by round; one round before warms the caches.
func measure(bm benchmark) ([]result, error) {
	commands := append([]command{bm.baseline}, bm.subjects...)
	times := make([][]float64, len(commands))
	for round := range bm.rounds + 1 {
		for i, c := range commands {
			took, err := c.time()
			if err != nil {
				return nil, err
			}
			if round > 0 {
				times[i] = append(times[i], took.Seconds()*1000)
			}
		}
	}
	var results []result
	for i, c := range bm.subjects {
		ratios := make([]float64, bm.rounds)
		for round := range ratios {
			ratios[round] = times[i+1][round] / times[0][round]
		}
		ratio := median(ratios)
		results = append(results, result{
			Benchmark: bm.name, Subject: c.name, Baseline: bm.baseline.name, Rounds: bm.rounds,
			MedianMS: median(times[i+1]), BaselineMS: median(times[0]),
			Ratio: ratio, Limit: bm.limit, LimitMS: bm.limitMS,
			OK: (bm.limit == 0 || ratio <= bm.limit) && (bm.limitMS == 0 || median(times[i+1]) <= bm.limitMS),
		})
	}
	return results, nil
}

// time runs the command once, from its start to its end. A command that fails is no measurement.
func (c command) time() (time.Duration, error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	if c.home {
		home, err := os.MkdirTemp("", "pflow-bench-home-")
		if err != nil {
			return 0, err
		}
		defer func() { _ = os.RemoveAll(home) }()
		cmd.Env = append(os.Environ(), "PFLOW_HOME="+home)
	}
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil {
		return 0, fmt.Errorf("%s: %w (%v)", c.name, err, c.args)
	}
	return took, nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
