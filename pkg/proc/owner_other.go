//go:build unix && !linux && !darwin

package proc

// startOf is not told here in a way that all these systems have.
func startOf(int) (string, bool) { return "", false }

func idSpace() string { return "" }
