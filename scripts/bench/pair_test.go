package main

import "testing"

// The ranks are those of the tables of the sign test.
func TestMedianInterval(t *testing.T) {
	for n, rank := range map[int]int{6: 1, 8: 1, 9: 2, 12: 3, 15: 4, 20: 6, 25: 8, 40: 14, 100: 40} {
		values := make([]float64, n)
		for i := range values {
			values[n-1-i] = float64(i + 1)
		}
		want := [3]float64{float64(n+1) / 2, float64(rank), float64(n + 1 - rank)}
		if got := medianInterval(values); got != want {
			t.Errorf("%d values: %v, want %v", n, got, want)
		}
	}
}

// The values of a side are 1 to 10, those of the other side twice as many.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limit, old, want string
		measured         float64
	}{
		{"wall ms <= 5.5", "", "ok", 5.5},
		{"wall ms <= 5.4", "", "MISSED", 5.5},
		{"p99 of wall ms <= 9", "", "MISSED", 10},
		{"wall ms / the other <= 0.5", "", "ok", 0.5},
		{"wall ms - the other <= -6", "", "MISSED", -5.5},
		{"wall ms <= 2", "", "MISSED", 5.5},
		{"wall ms <= 2", "a folder", "ok", 5.5}, // the interval begins there
		{"wall ms <= 1.9", "a folder", "MISSED", 5.5},
	} {
		counting := func(times float64) func() figures {
			n := -times // for the round that does not count
			return func() figures { n += times; return figures{"wall ms": n} }
		}
		b := &bench{old: c.old}
		got := b.pair(row{rounds: 10}, []side{{name: "one", limits: c.limit, run: counting(1)}, {name: "the other", run: counting(2)}})
		if len(got) != 2 || got[0].Verdict != c.want || got[0].Measured[0] != c.measured {
			t.Errorf("%s, old %q: %+v, want a result that measured %v and is %s, and one of the other side", c.limit, c.old, got, c.measured, c.want)
		}
	}
	got := new(bench).pair(row{}, []side{{name: "one", limits: "wall ms / gone <= 1", run: func() figures { return figures{"wall ms": 1} }}, {name: "gone"}})
	if want := "skipped: there is no gone"; got[0].Verdict != want || got[0].Measured != nil {
		t.Errorf("beside a side that is missing: %+v, want the verdict %q", got[0], want)
	}
}
