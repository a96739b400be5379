package fault

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns the candidate with the fewest edits to name (insert, delete, replace or swap neighbouring bytes, ignoring
// case), and whether it is close enough to be what was meant: by at most a third of the length of name, or by one edit if name
// has at least two bytes.
func Nearest(name string, candidates []string) (string, bool) {
	best, bestAt := "", min(max(1, len(name)/3)+1, len(name))
	for _, c := range candidates {
		if d := edits(strings.ToLower(name), strings.ToLower(c), bestAt); d < bestAt {
			best, bestAt = c, d
		}
	}
	return best, best != ""
}

// MaxAvailable is the most names that Offer lists.
const MaxAvailable = 20

// Offer sets Available to the names that exist in place of a wanted one, and returns the fault. Of more than MaxAvailable names it
// lists those with the fewest edits to the wanted one, nearest first, or the first ones if wanted is empty, and sets AvailableTotal.
func (f *Fault) Offer(wanted string, names []string) *Fault {
	f.Available, f.AvailableTotal = slices.Clip(names), 0
	if len(names) <= MaxAvailable {
		return f
	}
	f.AvailableTotal = len(names)
	if wanted != "" {
		names = nearestFirst(wanted, names)
	}
	f.Available = slices.Clone(names[:MaxAvailable])
	return f
}

// nearestFirst returns the names sorted by their edits to one.
func nearestFirst(wanted string, names []string) []string {
	type distance struct {
		name  string
		edits int
	}
	wanted = strings.ToLower(Truncate(wanted, maxCompared))
	list := make([]distance, len(names))
	for i, name := range names {
		list[i] = distance{name, edits(wanted, strings.ToLower(Truncate(name, maxCompared)), 2*maxCompared)}
	}
	slices.SortStableFunc(list, func(a, b distance) int { return cmp.Compare(a.edits, b.edits) })
	sorted := make([]string, len(list))
	for i, d := range list {
		sorted[i] = d.name
	}
	return sorted
}

// maxCompared is the most bytes of a name that nearestFirst compares.
const maxCompared = 64

// edits returns the optimal string alignment distance of a and b, or limit if the distance is not less.
func edits(a, b string, limit int) int {
	if abs(len(a)-len(b)) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
