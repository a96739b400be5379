//go:build unix && !linux

package process

// AdoptOrphans does nothing: the system's first process reaps orphans.
func AdoptOrphans() {}
