// Package brief chooses the cases of long tests that brief ones take: those of scripts/test and of go test -short.
package brief

import "testing"

// Part returns every nth element of a list in a brief test, beginning with the first, and the whole list in any other.
func Part[E any](list []E, n int) []E { return PartFrom(0, list, n) }

// PartFrom is like Part, but begins with the element of index first%n, so that tests that go through several lists can take other
// elements of each.
func PartFrom[E any](first int, list []E, n int) []E {
	if !testing.Short() {
		return list
	}
	part := make([]E, 0, len(list)/n+1)
	for i := first % n; i < len(list); i += n {
		part = append(part, list[i])
	}
	return part
}

// Skip skips a long test if the tests are brief.
func Skip(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip(Reason)
	}
}

// Reason is why Skip skips a test.
const Reason = "long: scripts/test --all runs it"
