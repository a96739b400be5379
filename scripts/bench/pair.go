package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// row is a line of the table of work.
type row struct {
	name   string
	rounds int                   // 0: the sides are measured once and in order, and all counts
	needs  string                // a command of the shell; the row is skipped if it fails
	sides  func(s *stage) []side // makes what the row needs
}

// side is one of the things that a row runs in turn.
type side struct {
	name   string
	run    func() figures // nil if its program is missing
	limits string         // separated by "; "; the sides without limits are there to compare with
}

// figures are what one run of a side has cost, by name.
type figures map[string]float64

// limit is the form of a limit on the median of the rounds, or on their 99th percentile. "FIGURE / SIDE" is, round by round, the ratio to the same
// figure of another side, and "FIGURE - SIDE" the difference.
const limit = `^(p99 of )?(.+?)(?: ([/-]) (.+))? <= (\S+)$`

// result is the verdict on a limit of a side. The first of a side has all figures of it, as medians and the ends of their intervals.
type result struct {
	Row      string                `json:"row"`
	Side     string                `json:"side,omitempty"`
	Rounds   int                   `json:"rounds,omitempty"`
	Limit    string                `json:"limit,omitempty"`
	Measured *[3]float64           `json:"measured,omitempty"`
	Verdict  string                `json:"verdict,omitempty"` // ok, MISSED, or skipped and why
	Figures  map[string][3]float64 `json:"figures,omitempty"`
}

// measure measures a row, with one build or with two that take turns.
func (b *bench) measure(r row) (results []result) {
	if r.rounds > 0 {
		r.rounds = cmp.Or(b.rounds, r.rounds)
	}
	defer undo(len(ends))
	s := b.stage("new", b.new)
	if s.cmd("sh -c", r.needs).Run() != nil {
		return []result{{Row: r.name, Verdict: "skipped: it needs " + r.needs}}
	}
	sides := r.sides(s)
	if b.old == "" {
		return b.pair(r, sides)
	}
	for i, old := range r.sides(b.stage("old", b.old)) {
		if after := sides[i]; old.limits != "" {
			old.name, old.limits = old.name+", old", ""
			after.limits = fmt.Sprintf("wall ms / %[1]s <= %[2]v; CPU ms / %[1]s <= %[2]v", old.name, b.limit)
			results = append(results, b.pair(r, []side{old, after})...)
		}
	}
	return results
}

// pair runs the sides in turn and judges what they have cost.
func (b *bench) pair(r row, sides []side) (results []result) {
	series := map[string]map[string][]float64{}
	for _, s := range sides {
		series[s.name] = map[string][]float64{}
	}
	for round := range r.rounds + 1 {
		order := slices.DeleteFunc(slices.Clone(sides), func(s side) bool { return s.run == nil })
		if r.rounds > 0 {
			rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		for _, s := range order {
			for figure, value := range s.run() {
				if round > 0 || r.rounds == 0 {
					series[s.name][figure] = append(series[s.name][figure], value)
				}
			}
		}
	}
	for _, s := range sides {
		its := result{Row: r.name, Side: s.name, Rounds: max(r.rounds, 1), Figures: map[string][3]float64{}}
		for figure, values := range series[s.name] {
			its.Figures[figure] = medianInterval(values)
		}
		for its.Limit = range strings.SplitSeq(s.limits, "; ") {
			if s.limits != "" {
				part := regexp.MustCompile(limit).FindStringSubmatch(its.Limit)
				figure, other := part[2], cmp.Or(part[4], s.name)
				its.Measured, its.Verdict = nil, "skipped: there is no "+other
				if len(series[other]) > 0 {
					its.judge(part, slices.Clone(series[s.name][figure]), series[other][figure], b.old != "")
				}
			}
			results = append(results, its)
			its.Figures = nil
		}
	}
	return results
}

// judge compares the values of the rounds with the parts of a limit. Of two builds, the interval counts as a whole.
func (r *result) judge(limit []string, values, others []float64, builds bool) {
	if len(values) == 0 || len(values) != len(others) {
		check(fmt.Errorf("%s, %s: there are %d values, and %d to compare with", r.Side, r.Limit, len(values), len(others)))
	}
	for i := range values {
		switch limit[3] {
		case "/":
			values[i] /= others[i]
		case "-":
			values[i] -= others[i]
		}
	}
	measured := medianInterval(values)
	judged := measured[0]
	if limit[1] != "" {
		judged = percentile(values, 99)
		measured = [3]float64{judged, judged, judged}
	} else if builds {
		judged = measured[1]
	}
	if r.Measured, r.Verdict = &measured, "MISSED"; judged <= must(strconv.ParseFloat(limit[5], 64)) {
		r.Verdict = "ok"
	}
}

// medianInterval returns the median of some values and the ends of its 95 % confidence interval, for which it takes at least six. It uses order statistics: whatever the distribution of the values, each lies below its median with probability 1/2, so the number of
// those that do is binomial. By its normal approximation the interval ends at the k-th smallest and the k-th largest value.
func medianInterval(values []float64) [3]float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	k := max(1, int((float64(n)+1)/2-0.98*math.Sqrt(float64(n))))
	return [3]float64{(sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[k-1], sorted[n-k]}
}

func percentile(values []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)*p+99)/100-1]
}
