//go:build unix && !linux && !darwin

package process

// startTime knows nothing: these systems have no common interface for it.
func startTime(int) (start string, there bool) { return "", true }

func idSpace() string { return "" }
