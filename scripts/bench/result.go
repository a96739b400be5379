package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// quantity is a number with its unit: "x" for a ratio, "ms", "bytes", "MB" (a million bytes), "GB/s", or
// "more" for what was not there before.
type quantity struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// String returns the number with three digits, or all digits before the decimal point if these are more, and the unit.
func (q quantity) String() string {
	digits := 2
	if q.Value != 0 {
		digits = min(max(0, 2-int(math.Floor(math.Log10(math.Abs(q.Value))))), 4)
	}
	return strconv.FormatFloat(q.Value, 'f', digits, 64) + " " + q.Unit
}

// result is a measured quantity.
type result struct {
	Benchmark string `json:"benchmark"`
	Subject   string `json:"subject"`
	quantity
	Limit  float64  `json:"limit"` // the maximum of the value
	Rounds int      `json:"rounds"`
	Beside []figure `json:"beside,omitempty"`
	OK     bool     `json:"ok"`
}

// figure is a number from which a result was computed, or with which it can be compared.
type figure struct {
	Name string `json:"name"`
	quantity
}

// table writes the results for people.
func table(out io.Writer, results []result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "benchmark\tsubject\tvalue\tlimit\tverdict\trounds\tother figures")
	for _, r := range results {
		verdict := "ok"
		if !r.OK {
			verdict = "MISSED"
		}
		var beside []string
		for _, f := range r.Beside {
			beside = append(beside, fmt.Sprintf("%s %s", f.Name, f.quantity))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n",
			r.Benchmark, r.Subject, r.quantity, quantity{r.Limit, r.Unit}, verdict, r.Rounds, strings.Join(beside, ", "))
	}
	return w.Flush()
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
