package main

import "testing"

// The ranks are those of the tables of the sign test.
func TestMedianInterval(t *testing.T) {
	for n, rank := range map[int]int{6: 1, 8: 1, 9: 2, 12: 3, 15: 4, 20: 6, 25: 8, 40: 14, 100: 40} {
		values := make([]float64, n)
		for i := range values {
			values[n-1-i] = float64(i + 1)
		}
		want := interval{Median: float64(n+1) / 2, Low: float64(rank), High: float64(n + 1 - rank)}
		if got := medianInterval(values); got != want {
			t.Errorf("%d values: %v, want %v", n, got, want)
		}
	}
}
