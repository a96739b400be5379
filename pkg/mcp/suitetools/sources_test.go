package suitetools

import (
	"slices"
	"testing"
	"time"
)

// The pauses after failures grow from a second to the refresh, and differ by chance.
func TestPauses(t *testing.T) {
	var pauses []time.Duration
	for failures := range 100 {
		pauses = append(pauses, pauseAfter(failures, time.Minute, 0))
		if least := pauseAfter(failures, time.Minute, 1); least < pauses[failures]*3/4-1 || least >= pauses[failures] {
			t.Error(failures, least)
		}
	}
	if pauses[0] != time.Minute || pauses[1] != time.Second || pauses[2] != 2*time.Second || !slices.IsSorted(pauses[1:]) || pauses[99] != time.Minute {
		t.Error(pauses)
	}
	if got := pauseAfter(1, 500*time.Millisecond, 0); got != 500*time.Millisecond {
		t.Error(got)
	}
}
