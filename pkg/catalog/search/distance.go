package search

// distance returns the number of edits between two words, or most+1 if there are more than most. An edit inserts, removes or
// replaces a byte, or swaps two neighbours. Bytes will do, because most letters in names are ASCII.
func distance(a, b string, most int) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > most || len(b) > 2*maxWord {
		return most + 1
	}
	var rows [3][2*maxWord + 1]uint8
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = uint8(j)
	}
	for i := 1; i <= len(a); i++ {
		row[0] = uint8(i)
		least := row[0]
		for j := 1; j <= len(b); j++ {
			d := last[j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if int(least) > most+1 {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return min(int(last[len(b)]), most+1)
}
