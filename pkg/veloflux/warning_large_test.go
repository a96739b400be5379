//go:build !race

package veloflux

import (
	"strings"
	"testing"
)

// TestDroppedConstructsOfLargeText takes minutes if a step scans all the rest of the text.
func TestDroppedConstructsOfLargeText(t *testing.T) {
	const size = 1 << 18
	for _, piece := range []string{"(", ")", "'", "\"", "`", "/*", "*/", "--", "-- \n", "$", "$a$", "$a", "[", "5", "a", "é", "\n", "FROM ", "LIMIT ", ", (", "\xff"} {
		for _, w := range warningsFor("SELECT a FROM "+strings.Repeat(piece, size/len(piece)), "") {
			if w.Line < 1 || w.Column < 1 {
				t.Fatalf("%q: %v", piece, w)
			}
		}
	}
}
