package main

import (
	"fmt"
	"math"
	"slices"
)

// interval is a median with its 95 % confidence interval.
type interval struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

func (i interval) String() string { return fmt.Sprintf("%.3f (%.3f to %.3f)", i.Median, i.Low, i.High) }

// minPairs is how many values it takes for the smallest and the largest to be a 95 % interval.
const minPairs = 6

// medianInterval returns the median of at least minPairs values. Whatever their distribution, each lies below its median
// with probability 1/2, so the number of those that do is binomial: the interval ends at the k-th smallest and the k-th
// largest value, for the largest k that the number falls below with a probability of at most 2.5 %.
func medianInterval(values []float64) interval {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	below, k := 0.0, 0
	for ; k < n/2; k++ { // below is the probability of fewer than k+1 values below the median
		below += math.Exp(logChoose(n, k) - float64(n)*math.Ln2)
		if below > 0.025 {
			break
		}
	}
	k = max(k, 1)
	return interval{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[k-1], High: sorted[n-k]}
}

// logChoose returns the logarithm of the number of ways to choose k of n.
func logChoose(n, k int) float64 {
	log := func(i int) float64 { v, _ := math.Lgamma(float64(i) + 1); return v }
	return log(n) - log(k) - log(n-k)
}
