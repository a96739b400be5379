package fault

import "strings"

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

// edits returns the optimal string alignment distance of a and b, or limit if the distance is not less.
func edits(a, b string, limit int) int {
	if abs(len(a)-len(b)) >= limit {
		return limit
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
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
		before, last = last, row
	}
	return min(last[len(b)], limit)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
