//go:build unix && !linux && !darwin

package process

// startOf tells nothing: these systems have no way in common.
func startOf(int) (start string, there bool) { return "", true }

func idSpace() string { return "" }
