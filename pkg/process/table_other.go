//go:build unix && !linux

package process

// table returns nil: only Linux shows parents and environments in files.
func table() map[int]procInfo { return nil }

func childless() bool { return true }

func environment(int) []byte { return nil }
