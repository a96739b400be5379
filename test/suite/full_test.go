package suite

import "testing"

// TestRunsGoOnInAFullHome: a home that is full, read-only or limited in the size of its files for a time ends a run with a
// clear error, and afterwards it goes on. Which of these can be had depends on who runs the test.
func TestRunsGoOnInAFullHome(t *testing.T) { trials(t, "--kill", "0", "--full", "3") }
