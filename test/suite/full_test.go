package suite

import "testing"

// A home that is full, read-only or limited in the size of its files ends a run with a clear error, and later the run can be
// resumed. The rights of the user decide which of these the test can set up.
func TestRunsGoOnInAFullHome(t *testing.T) {
	trials(t, 1, "^home")
}
