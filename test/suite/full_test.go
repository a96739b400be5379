package suite

import "testing"

// TestRunsGoOnInAFullHome: a home that is full, read-only or limited in the size of its files for a time ends a run with a
// A home that is full, read-only or limited in the size of its files ends a run with a clear error, and later the run can be
func TestRunsGoOnInAFullHome(t *testing.T) { trials(t, "--kill", "0", "--full", "3") }
